/* What a profiler gets of libcupti: runs some work on a GPU, and prints the records that it reads. Each line of output is a result. The profiler's clock counts three
 * times as fast as the machine's. With an argument: the server has the library of profiling_library.c. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphLaunch(void *exec, void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra);

int cuptiGetVersion(uint32_t *version);
int cuptiGetTimestamp(uint64_t *timestamp);
int cuptiSubscribe(void **subscriber, void (*callback)(void *, uint32_t, uint32_t, const void *), void *user);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function);
int cuptiUnsubscribe(void *subscriber);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last);
int cuptiActivityFlushAll(uint32_t forced);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);

enum { MEMCPY = 1, MEMSET = 2, DRIVER = 4, RUNTIME = 5, KERNEL = 10, SYNCHRONIZATION = 38, EXTERNAL = 39 };
enum { LAUNCHES = 100, COUNT = 1 << 20, BUFFER = 4096, MOST = 4096 };

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 by) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [by];\n"
    "  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}\n";

struct record {
  uint32_t kind, correlation, more;
  uint64_t start, end, id;
};
static struct record records[MOST];
static int count, buffers;

/* The profiler's clock. Now and then a thread that reads the clock loses its processor first. */
static uint64_t ticks(void) {
  static atomic_uint calls;
  struct timespec t;
  if (++calls % 7 == 0) usleep(300);
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 3 * ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

static void request(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = aligned_alloc(8, BUFFER);
  *size = BUFFER;
  *most = 0;
}

static uint32_t word(const uint8_t *record, size_t at) {
  uint32_t value;
  memcpy(&value, record + at, sizeof value);
  return value;
}
static uint64_t number(const uint8_t *record, size_t at) {
  uint64_t value;
  memcpy(&value, record + at, sizeof value);
  return value;
}

/* The places of the fields are those of cupti_activity.h. */
static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  uint8_t *at = NULL;
  int r;
  buffers++;
  while (!(r = cuptiActivityGetNextRecord(buffer, valid, &at)) && count < MOST) {
    struct record *record = &records[count++];
    record->kind = word(at, 0);
    switch (record->kind) {
      case KERNEL:
        record->start = number(at, 16), record->end = number(at, 24), record->correlation = word(at, 92);
        const char *name;
        memcpy(&name, at + 104, sizeof name);
        record->more = !strcmp(name, "add") && word(at, 52) == 2 && word(at, 64) == 32 && word(at, 44) == 1;
        if (!strcmp(name, "CUDA graph")) record->more = 2;
        if (!strcmp(name, "first_kernel") && word(at, 52) == 3 && word(at, 64) == 4) record->more = 3;
        if (!strcmp(name, "second_kernel") && word(at, 60) == 3 && word(at, 72) == 4) record->more = 4;
        break;
      case MEMCPY:
        record->start = number(at, 16), record->end = number(at, 24), record->correlation = word(at, 44);
        record->id = number(at, 8);
        record->more = at[4] * 100u + at[5] * 10u + at[6];
        break;
      case MEMSET:
        record->start = number(at, 16), record->end = number(at, 24), record->correlation = word(at, 44);
        record->id = number(at, 8);
        record->more = word(at, 4);
        break;
      case DRIVER:
        record->start = number(at, 8), record->end = number(at, 16), record->correlation = word(at, 32);
        record->more = word(at, 4);
        break;
      case EXTERNAL:
        record->more = word(at, 4), record->id = number(at, 8), record->correlation = word(at, 16);
        break;
      default: printf("an unknown record: %u\n", record->kind);
    }
  }
  if (r != 12) printf("the records end with %d\n", r);
  free(buffer);
}

static const struct record *find(uint32_t kind, uint32_t correlation) {
  for (int i = 0; i < count; i++) {
    if (records[i].kind == kind && records[i].correlation == correlation) return &records[i];
  }
  return NULL;
}

static int count_of(uint32_t kind, uint32_t more) {
  int n = 0;
  for (int i = 0; i < count; i++) n += records[i].kind == kind && records[i].more == more;
  return n;
}

static int entered, left;
static void called(void *user, uint32_t domain, uint32_t function, const void *data) {
  uint32_t site;
  memcpy(&site, data, sizeof site);
  if (domain == 1 && (function == 307 || function == 514)) *(site ? &left : &entered) += 1;
}

static void *add, *stream;
static uint64_t memory;

static int launch(void) {
  unsigned by = 1;
  void *parameters[] = {&memory, &by};
  return cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 0, stream, parameters, NULL);
}

static void work(void) {
  static int host[COUNT];
  uint64_t last = 0;
  RUN(cuMemcpyHtoD_v2(memory, host, sizeof host));
  RUN(cuMemsetD32_v2(memory, 7, COUNT));
  RUN(cuCtxSynchronize());
  for (unsigned i = 0; i < LAUNCHES; i++) {
    cuptiActivityPushExternalCorrelationId(3, 1000 + i);
    cuptiActivityPushExternalCorrelationId(4, 5);
    RUN(launch());
    cuptiActivityPopExternalCorrelationId(4, NULL);
    if (cuptiActivityPopExternalCorrelationId(3, &last) || last != 1000 + i) printf("another number was popped\n");
  }
  RUN(cuStreamSynchronize(stream));
  RUN(cuMemcpyDtoH_v2(host, memory, sizeof host));
}

static void graph(void) {
  void *captured, *exec;
  RUN(cuStreamBeginCapture_v2(stream, 0));
  RUN(launch());
  RUN(cuStreamEndCapture(stream, &captured));
  RUN(cuGraphInstantiateWithFlags(&exec, captured, 0));
  RUN(cuGraphLaunch(exec, stream));
  RUN(cuStreamSynchronize(stream));
}

/* Kernels of one stream follow each other; each began after its call did, and has the number of the operation that launched it. */
static void check_kernels(uint64_t before, uint64_t after) {
  uint64_t end = 0, slack = 1000000000u; /* the clocks' error on a loaded machine, in ticks */
  int ordered = 0, within = 0, external = 0, i = 0;
  for (const struct record *k = records; k < records + count; k++) {
    if (k->kind != KERNEL || k->more != 1) continue;
    const struct record *call = find(DRIVER, k->correlation), *number_of = find(EXTERNAL, k->correlation);
    ordered += k->start + 3000 >= end && k->end >= k->start;
    within += call && call->more == 307 && call->start <= call->end && k->start + slack >= call->start && k->start + slack >= before &&
              k->end <= after + slack;
    external += number_of && number_of->more == 3 && number_of->id == 1000u + (unsigned)i;
    end = k->end;
    i++;
  }
  printf("kernels: %d, in order %d, within their calls %d, with their operation %d\n", i, ordered, within, external);
}

/* How many records of a kind last so many nanoseconds, by the times that the server's library has made up. */
static int lasting(uint32_t kind, uint32_t more, uint64_t nanoseconds) {
  int n = 0;
  for (const struct record *r = records; r < records + count; r++) {
    uint64_t lasts = (r->end - r->start) / 3;
    n += r->kind == kind && r->more == more && lasts + 2000 > nanoseconds && lasts < nanoseconds + 2000;
  }
  return n;
}

int main(int argc, char **argv) {
  void *context, *module, *subscriber;
  uint32_t version;
  uint64_t before, after;
  size_t dropped = 1;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&add, module, "add"));
  RUN(cuMemAlloc_v2(&memory, COUNT * 4));
  RUN(cuStreamCreate(&stream, 1));
  RUN(launch());

  cuptiGetVersion(&version);
  printf("version %u\n", version);
  cuptiActivityRegisterTimestampCallback(ticks);
  cuptiActivityRegisterCallbacks(request, complete);
  const uint32_t kinds[] = {MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL, EXTERNAL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    int r = cuptiActivityEnable(kinds[i]);
    if (r) printf("kind %u is refused: %d\n", kinds[i], r);
  }
  printf("synchronization is refused: %d\n", cuptiActivityEnable(SYNCHRONIZATION));
  int first = cuptiSubscribe(&subscriber, called, NULL), second = cuptiSubscribe(&subscriber, called, NULL);
  printf("two subscribers: %d, %d\n", first, second);
  cuptiEnableCallback(1, subscriber, 1, 307);
  cuptiEnableCallback(1, subscriber, 1, 514);

  cuptiGetTimestamp(&before);
  work();
  graph();
  cuptiGetTimestamp(&after);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) cuptiActivityDisable(kinds[i]);
  cuptiUnsubscribe(subscriber);
  RUN(launch()); /* nobody listens */
  RUN(cuCtxSynchronize());
  cuptiActivityFlushAll(0);

  check_kernels(before, after);
  printf("graphs %d, calls that launch them %d\n", count_of(KERNEL, 2), count_of(DRIVER, 514));
  if (argc > 1) {
    printf("in place of a graph: %d and %d kernels, fills %d\n", lasting(KERNEL, 3, 300000), lasting(KERNEL, 4, 200000), lasting(MEMSET, 9, 100000));
    printf("by the library's times: kernels %d, fills %d\n", lasting(KERNEL, 1, 500000), lasting(MEMSET, 7, 100000));
  }
  printf("copies to the device %d, back %d, fills %d\n", count_of(MEMCPY, 113), count_of(MEMCPY, 231), count_of(MEMSET, 7));
  printf("operations of the first kind %d, of the second %d\n", count_of(EXTERNAL, 3), count_of(EXTERNAL, 4));
  printf("called before %d, after %d\n", entered, left);
  cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
  printf("several buffers: %d, dropped %zu\n", buffers > 2, dropped);
  return 0;
}
