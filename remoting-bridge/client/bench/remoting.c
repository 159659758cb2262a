/* What remoting costs: copies by size, launches, synchronization, allocation, start-up, round trips.
 *
 * A plain driver-API program: it opens whatever libcuda.so.1 the loader finds, so the same binary measures the real
 * driver and the client. Prints one line a figure: name, bytes, value, unit, separated by tabs; medians.
 * Usage: remoting [--quick] [--start | --plain STREAMS]
 * With --start it ends after the start-up. With --plain it measures what plain TCP does on this machine's loopback instead, without CUDA.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *handle;
typedef uint64_t devptr;

static int (*Init)(unsigned), (*DeviceGet)(int *, int), (*Retain)(handle *, int), (*SetCurrent)(handle);
static int (*MemAlloc)(devptr *, size_t), (*MemFree)(devptr), (*HostAlloc)(void **, size_t, unsigned), (*FreeHost)(void *);
static int (*HtoD)(devptr, const void *, size_t), (*DtoH)(void *, devptr, size_t);
static int (*HtoDAsync)(devptr, const void *, size_t, handle), (*DtoHAsync)(void *, devptr, size_t, handle);
static int (*StreamCreate)(handle *, unsigned), (*StreamSynchronize)(handle), (*ModuleLoadData)(handle *, const void *);
static int (*GetFunction)(handle *, handle, const char *), (*MemGetInfo)(size_t *, size_t *), (*DriverVersion)(int *);
static int (*Launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **);
static int (*DeviceGetName)(char *, int, int);

/* Adds 1 to every element below n. */
static const char ptx[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry bump(.param .u64 data, .param .u32 n)\n{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<7>;\n  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [data];\n  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n  setp.ge.u32 %p1, %r5, %r1;\n  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n  mul.wide.u32 %rd3, %r5, 4;\n  add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.u32 %r6, [%rd4];\n  add.s32 %r6, %r6, 1;\n  st.global.u32 [%rd4], %r6;\n"
    "done:\n  ret;\n}\n";

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int r, const char *what) {
  if (r) {
    fprintf(stderr, "remoting: %s failed with CUDA error %d\n", what, r);
    exit(1);
  }
}
#define CALL(call) check(call, #call)

static void resolve(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "remoting: libcuda.so.1 has no %s\n", name);
    exit(1);
  }
  memcpy(to, &found, sizeof found);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

static void print(const char *name, size_t bytes, double value, const char *unit) {
  printf("%s\t%zu\t%.4g\t%s\n", name, bytes, value, unit);
  fflush(stdout);
}

static const size_t sizes[] = {4 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20, 256 << 20};
#define SIZES(quick) (size_t)(quick ? 4 : 6)

static void copies(int quick, handle stream) {
  size_t count = SIZES(quick), most = sizes[count - 1];
  devptr device;
  void *pinned, *pageable = NULL;
  CALL(MemAlloc(&device, most));
  CALL(HostAlloc(&pinned, most, 0));
  if (posix_memalign(&pageable, 4096, most)) exit(1);
  memset(pinned, 1, most);
  memset(pageable, 2, most);
  for (size_t i = 0; i < count; i++) {
    size_t bytes = sizes[i];
    int reps = bytes <= 1 << 20 ? 101 : quick ? 5 : 15;
    double t[101];
    for (int kind = 0; kind < 4; kind++) {
      static const char *const names[] = {"pinned-host-to-device", "pinned-device-to-host", "pageable-host-to-device",
                                          "pageable-device-to-host"};
      for (int k = -2; k < reps; k++) {
        double start = now();
        switch (kind) {
          case 0:
            CALL(HtoDAsync(device, pinned, bytes, stream));
            CALL(StreamSynchronize(stream));
            break;
          case 1:
            CALL(DtoHAsync(pinned, device, bytes, stream));
            CALL(StreamSynchronize(stream));
            break;
          case 2: CALL(HtoD(device, pageable, bytes)); break;
          default: CALL(DtoH(pageable, device, bytes));
        }
        if (k >= 0) t[k] = now() - start;
      }
      double m = median(t, reps);
      if (bytes <= 64 << 10) {
        print(names[kind], bytes, m, "us");
      } else {
        print(names[kind], bytes, (double)bytes / m / 1e3, "GB/s");
      }
    }
  }
  CALL(FreeHost(pinned));
  CALL(MemFree(device));
  free(pageable);
}

static void launches(int quick, handle stream) {
  handle module, function;
  CALL(ModuleLoadData(&module, ptx));
  CALL(GetFunction(&function, module, "bump"));
  devptr data;
  unsigned n = 256;
  CALL(MemAlloc(&data, 4 * n));
  void *parameters[] = {&data, &n};
  for (int i = 0; i < 100; i++) CALL(Launch(function, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
  CALL(StreamSynchronize(stream));
  int rounds = quick ? 11 : 51, burst = 500;
  double cost[64], rate[64], both[1001];
  for (int r = 0; r < rounds; r++) {
    double start = now();
    for (int i = 0; i < burst; i++) CALL(Launch(function, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
    double issued = now();
    CALL(StreamSynchronize(stream));
    cost[r] = (issued - start) / burst;
    rate[r] = burst / (now() - start) * 1e6;
  }
  print("launch-asynchronous", 0, median(cost, rounds), "us");
  print("launch-rate", 0, median(rate, rounds), "1/s");
  int pairs = quick ? 301 : 1001;
  for (int i = 0; i < pairs; i++) {
    double start = now();
    CALL(Launch(function, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
    CALL(StreamSynchronize(stream));
    both[i] = now() - start;
  }
  print("launch-synchronize", 0, median(both, pairs), "us");
  CALL(MemFree(data));
}

/* ---- Plain TCP: one process sends a block over several connections, another answers when it has received all of it ---- */

#define MOST_STREAMS 16
#define PART (1 << 20)

struct stream {
  int fd;
  char *data;
  size_t bytes; /* of this connection's share */
};

static void all(ssize_t (*move)(int, void *, size_t, int), int fd, char *data, size_t bytes, size_t step) {
  for (size_t done = 0; done < bytes;) {
    size_t take = bytes - done < step ? bytes - done : step;
    ssize_t n = move(fd, step == bytes ? data + done : data, take, MSG_NOSIGNAL);
    if (n <= 0) exit(1);
    done += (size_t)n;
  }
}

static ssize_t send_some(int fd, void *data, size_t bytes, int flags) { return send(fd, data, bytes, flags); }

static void *send_share(void *stream) {
  struct stream *s = stream;
  all(send_some, s->fd, s->data, s->bytes, s->bytes);
  return NULL;
}

/* Receives into the same buffer again and again, like a receiver that passes the data on. */
static void *receive_share(void *stream) {
  struct stream *s = stream;
  all(recv, s->fd, s->data, s->bytes, PART);
  return NULL;
}

static void together(void *(*work)(void *), struct stream *streams, int count) {
  pthread_t threads[MOST_STREAMS];
  for (int i = 1; i < count; i++) {
    if (pthread_create(&threads[i], NULL, work, &streams[i])) exit(1);
  }
  work(&streams[0]);
  for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
}

static void pair(int fds[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  fds[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&address, &length) || connect(fds[0], (struct sockaddr *)&address, length) ||
      (fds[1] = accept(listener, NULL, NULL)) < 0) {
    perror("remoting: loopback");
    exit(1);
  }
  for (int i = 0; i < 2; i++) setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  close(listener);
}

/* Receives a byte, sleeping or polling. */
static void take_byte(int fd, int flags) {
  char byte;
  while (recv(fd, &byte, 1, flags) != 1) {}
}

static int plain(int quick, int count) {
  if (count < 1 || count > MOST_STREAMS) {
    fprintf(stderr, "remoting: --plain takes 1 to %d streams\n", MOST_STREAMS);
    return 2;
  }
  struct stream here[MOST_STREAMS], there[MOST_STREAMS];
  int control[2], trips = 1001, first = 2, last = (int)SIZES(quick);
  size_t most = sizes[last - 1];
  pair(control);
  char *data = malloc(most);
  if (!data) return 1;
  memset(data, 1, most);
  for (int i = 0; i < count; i++) {
    int fds[2];
    pair(fds);
    here[i].fd = fds[0];
    there[i] = (struct stream){fds[1], malloc(PART), 0};
  }
  pid_t child = fork();
  if (!child) {
    for (int flags = 0; flags <= MSG_DONTWAIT; flags += MSG_DONTWAIT) {
      for (int i = 0; i < trips; i++) {
        take_byte(control[1], flags);
        if (send(control[1], "", 1, 0) != 1) _exit(1);
      }
    }
    for (int k = first; k < last; k++) {
      for (int i = 0; i < count; i++) there[i].bytes = sizes[k] / (size_t)count;
      for (int r = 0; r < 17; r++) {
        together(receive_share, there, count);
        if (send(control[1], "", 1, 0) != 1) _exit(1);
      }
    }
    _exit(0);
  }
  double t[1001];
  for (int flags = 0; flags <= MSG_DONTWAIT; flags += MSG_DONTWAIT) {
    for (int i = 0; i < trips; i++) {
      double start = now();
      if (send(control[0], "", 1, 0) != 1) return 1;
      take_byte(control[0], flags);
      t[i] = now() - start;
    }
    print(flags ? "plain-round-trip-polling" : "plain-round-trip", 0, median(t, trips), "us");
  }
  for (int k = first; k < last; k++) {
    size_t share = sizes[k] / (size_t)count;
    for (int i = 0; i < count; i++) {
      here[i].bytes = share;
      here[i].data = data + (size_t)i * share;
    }
    for (int r = -2; r < 15; r++) {
      double start = now();
      together(send_share, here, count);
      take_byte(control[0], 0);
      if (r >= 0) t[r] = now() - start;
    }
    print("plain-copy", sizes[k], (double)(share * (size_t)count) / median(t, 15) / 1e3, "GB/s");
  }
  int status;
  waitpid(child, &status, 0);
  return status != 0;
}

int main(int argc, char **argv) {
  int quick = 0, only_start = 0, streams = -1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--quick")) {
      quick = 1;
    } else if (!strcmp(argv[i], "--start")) {
      only_start = 1;
    } else if (!strcmp(argv[i], "--plain") && i + 1 < argc) {
      streams = atoi(argv[++i]);
    } else {
      fprintf(stderr, "usage: remoting [--quick] [--start | --plain STREAMS]\n");
      return 2;
    }
  }
  if (streams >= 0) return plain(quick, streams);
  double start = now();
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda) {
    fprintf(stderr, "remoting: %s\n", dlerror());
    return 1;
  }
  resolve(cuda, "cuInit", &Init);
  resolve(cuda, "cuDriverGetVersion", &DriverVersion);
  resolve(cuda, "cuDeviceGet", &DeviceGet);
  resolve(cuda, "cuDeviceGetName", &DeviceGetName);
  resolve(cuda, "cuDevicePrimaryCtxRetain", &Retain);
  resolve(cuda, "cuCtxSetCurrent", &SetCurrent);
  resolve(cuda, "cuMemAlloc_v2", &MemAlloc);
  resolve(cuda, "cuMemFree_v2", &MemFree);
  resolve(cuda, "cuMemHostAlloc", &HostAlloc);
  resolve(cuda, "cuMemFreeHost", &FreeHost);
  resolve(cuda, "cuMemcpyHtoD_v2", &HtoD);
  resolve(cuda, "cuMemcpyDtoH_v2", &DtoH);
  resolve(cuda, "cuMemcpyHtoDAsync_v2", &HtoDAsync);
  resolve(cuda, "cuMemcpyDtoHAsync_v2", &DtoHAsync);
  resolve(cuda, "cuStreamCreate", &StreamCreate);
  resolve(cuda, "cuStreamSynchronize", &StreamSynchronize);
  resolve(cuda, "cuModuleLoadData", &ModuleLoadData);
  resolve(cuda, "cuModuleGetFunction", &GetFunction);
  resolve(cuda, "cuMemGetInfo_v2", &MemGetInfo);
  resolve(cuda, "cuLaunchKernel", &Launch);
  int device;
  handle context, stream;
  CALL(Init(0));
  CALL(DeviceGet(&device, 0));
  CALL(Retain(&context, device));
  CALL(SetCurrent(context));
  devptr first;
  CALL(MemAlloc(&first, 1 << 20));
  print("start-up", 0, (now() - start) / 1e3, "ms");
  if (only_start) return 0;
  char name[256];
  CALL(DeviceGetName(name, sizeof name, device));
  fprintf(stderr, "device: %s\n", name);
  CALL(StreamCreate(&stream, 1));

  double t[1001];
  size_t free_bytes, total;
  for (int i = 0; i < 301; i++) {
    double s = now();
    CALL(MemGetInfo(&free_bytes, &total));
    t[i] = now() - s;
  }
  print("memory-info", 0, median(t, 301), "us");
  for (int i = 0; i < 201; i++) {
    devptr p;
    double s = now();
    CALL(MemAlloc(&p, 4 << 20));
    CALL(MemFree(p));
    t[i] = now() - s;
  }
  print("malloc-free", 4 << 20, median(t, 201), "us");
  launches(quick, stream);
  copies(quick, stream);
  return 0;
}
