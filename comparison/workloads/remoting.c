/* The cost of the channel itself: copies of several sizes with a wait after each and queued, launches, allocation, a round trip. The
 * figures named -p99.9 are what one call in a thousand takes longer than, of at least ten thousand calls for each sample. */
#include <stdlib.h>

#include "workload.h"

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

const size_t sizes[] = {4 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20, 256 << 20};
size_t copy_sizes(void) { return options.quick ? 4 : sizeof sizes / sizeof *sizes; }

enum { TAIL_CALLS = 10000, TAIL_ROUNDS = 5 };
static int tail_rounds(void) { return options.quick ? 2 : TAIL_ROUNDS; }

static void copies(handle stream) {
  size_t count = copy_sizes(), most = sizes[count - 1];
  devptr device = device_memory(most);
  void *pinned = pinned_memory(most), *pageable = host_memory(most);
  for (size_t i = 0; i < count; i++) {
    size_t bytes = sizes[i];
    int reps = bytes <= 1 << 20 ? 101 : options.quick ? 5 : 15;
    double t[101];
    for (int kind = 0; kind < 4; kind++) {
      static const char *const names[] = {"pinned-host-to-device", "pinned-device-to-host", "pageable-host-to-device",
                                          "pageable-device-to-host"};
      for (int k = -2; k < reps; k++) {
        double start = now();
        switch (kind) {
          case 0:
            CALL(cuMemcpyHtoDAsync_v2(device, pinned, bytes, stream));
            CALL(cuStreamSynchronize(stream));
            break;
          case 1:
            CALL(cuMemcpyDtoHAsync_v2(pinned, device, bytes, stream));
            CALL(cuStreamSynchronize(stream));
            break;
          case 2: CALL(cuMemcpyHtoD_v2(device, pageable, bytes)); break;
          default: CALL(cuMemcpyDtoH_v2(pageable, device, bytes));
        }
        double took = now() - start;
        if (k >= 0) t[k] = bytes <= 64 << 10 ? took : (double)bytes / took / 1e3;
      }
      figures(names[kind], bytes, t, reps, bytes <= 64 << 10 ? "us" : "GB/s");
    }
  }
  CALL(cuMemFreeHost(pinned));
  CALL(cuMemFree_v2(device));
  free(pageable);
}

/* Copies of pinned memory that are queued one after the other: the mean time of a call, and of a copy in all. The copies of 64 KiB and more
 * are more bytes than a worker keeps at a time (64 MiB). */
static void queued(handle stream) {
  enum { LEAST = 4 << 10, MOST = 1 << 20, ALL = 128 << 20, ROUNDS = 11 };
  devptr device = device_memory(MOST);
  uint8_t *pinned = pinned_memory(ALL / 2);
  int rounds = options.quick ? 3 : ROUNDS;
  for (size_t bytes = LEAST; bytes <= MOST; bytes *= 16) {
    int count = ALL / (int)bytes < 2000 ? ALL / (int)bytes : 2000;
    for (int to_host = 0; to_host < 2; to_host++) {
      double call[ROUNDS], copy[ROUNDS];
      for (int r = -1; r < rounds; r++) {
        double start = now();
        for (int i = 0; i < count; i++) {
          uint8_t *place = pinned + (size_t)i * bytes % (ALL / 2);
          if (to_host) {
            CALL(cuMemcpyDtoHAsync_v2(place, device, bytes, stream));
          } else {
            CALL(cuMemcpyHtoDAsync_v2(device, place, bytes, stream));
          }
        }
        double issued = now();
        CALL(cuStreamSynchronize(stream));
        if (r < 0) continue;
        call[r] = (issued - start) / count;
        copy[r] = (now() - start) / count;
      }
      figures(to_host ? "queued-device-to-host-call" : "queued-host-to-device-call", bytes, call, rounds, "us");
      figures(to_host ? "queued-device-to-host" : "queued-host-to-device", bytes, copy, rounds, "us");
    }
  }
  CALL(cuMemFreeHost(pinned));
  CALL(cuMemFree_v2(device));
}

/* The time of each call while thousands of small copies are queued, the p99.9 of each round. The clock is read around each call, and
 * so these are other rounds than those of queued(), which give the mean. */
static void queued_tail(handle stream) {
  enum { BYTES = 4 << 10 };
  devptr device = device_memory(BYTES);
  uint8_t *pinned = pinned_memory((size_t)TAIL_CALLS * BYTES);
  double *t = host_memory(TAIL_CALLS * sizeof *t), rare[TAIL_ROUNDS];
  for (int to_host = 0; to_host < 2; to_host++) {
    for (int r = -1; r < tail_rounds(); r++) {
      for (int i = 0; i < TAIL_CALLS; i++) {
        uint8_t *place = pinned + (size_t)i * BYTES;
        double start = now();
        if (to_host) {
          CALL(cuMemcpyDtoHAsync_v2(place, device, BYTES, stream));
        } else {
          CALL(cuMemcpyHtoDAsync_v2(device, place, BYTES, stream));
        }
        t[i] = now() - start;
      }
      CALL(cuStreamSynchronize(stream));
      qsort(t, TAIL_CALLS, sizeof *t, by_value);
      if (r >= 0) rare[r] = t[TAIL_CALLS - 1 - TAIL_CALLS / 1000];
    }
    figures(to_host ? "queued-device-to-host-call-p99.9" : "queued-host-to-device-call-p99.9", BYTES, rare, tail_rounds(), "us");
  }
  free(t);
  CALL(cuMemFreeHost(pinned));
  CALL(cuMemFree_v2(device));
}

/* Launches with a wait after each, for the stream and for the context: the p99.9 of each round, and for the context, for which
 * bursts() has no row, the median. */
static void launch_tail(handle function, handle stream, void **parameters) {
  double *t = host_memory(TAIL_CALLS * sizeof *t), usual[TAIL_ROUNDS], rare[TAIL_ROUNDS];
  for (int of_context = 0; of_context < 2; of_context++) {
    for (int r = 0; r < tail_rounds(); r++) {
      for (int i = 0; i < TAIL_CALLS; i++) {
        double start = now();
        launch(function, 1, 256, stream, parameters);
        if (of_context) {
          CALL(cuCtxSynchronize());
        } else {
          CALL(cuStreamSynchronize(stream));
        }
        t[i] = now() - start;
      }
      qsort(t, TAIL_CALLS, sizeof *t, by_value);
      usual[r] = t[TAIL_CALLS / 2];
      rare[r] = t[TAIL_CALLS - 1 - TAIL_CALLS / 1000];
    }
    if (of_context) figures("launch-context-synchronize", 0, usual, tail_rounds(), "us");
    figures(of_context ? "launch-context-synchronize-p99.9" : "launch-synchronize-p99.9", 0, rare, tail_rounds(), "us");
  }
  free(t);
}

static void bursts(handle stream) {
  handle module, function;
  CALL(cuModuleLoadData(&module, ptx));
  CALL(cuModuleGetFunction(&function, module, "bump"));
  unsigned n = 256;
  devptr data = device_memory(4 * n);
  void *parameters[] = {&data, &n};
  for (int i = 0; i < 100; i++) launch(function, 1, 256, stream, parameters);
  CALL(cuStreamSynchronize(stream));
  int rounds = options.quick ? 11 : 51, burst = 500;
  double cost[64], rate[64], both[1001];
  for (int r = 0; r < rounds; r++) {
    double start = now();
    for (int i = 0; i < burst; i++) launch(function, 1, 256, stream, parameters);
    double issued = now();
    CALL(cuStreamSynchronize(stream));
    cost[r] = (issued - start) / burst;
    rate[r] = burst / (now() - start) * 1e6;
  }
  figures("launch-asynchronous", 0, cost, rounds, "us");
  figures("launch-rate", 0, rate, rounds, "1/s");
  int pairs = options.quick ? 301 : 1001;
  for (int i = 0; i < pairs; i++) {
    double start = now();
    launch(function, 1, 256, stream, parameters);
    CALL(cuStreamSynchronize(stream));
    both[i] = now() - start;
  }
  figures("launch-synchronize", 0, both, pairs, "us");
  launch_tail(function, stream, parameters);
  CALL(cuMemFree_v2(data));
}

void remoting(void) {
  handle stream;
  CALL(cuStreamCreate(&stream, 1));
  double t[301];
  for (int i = 0; i < 301; i++) {
    size_t available, total;
    double start = now();
    CALL(cuMemGetInfo_v2(&available, &total));
    t[i] = now() - start;
  }
  figures("memory-info", 0, t, 301, "us");
  for (int i = 0; i < 201; i++) {
    devptr p;
    double start = now();
    CALL(cuMemAlloc_v2(&p, 4 << 20));
    CALL(cuMemFree_v2(p));
    t[i] = now() - start;
  }
  figures("malloc-free", 4 << 20, t, 201, "us");
  bursts(stream);
  copies(stream);
  queued(stream);
  queued_tail(stream);
}
