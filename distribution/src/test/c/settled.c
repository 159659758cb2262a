/* A program that copies pageable memory to the device and waits for the stream, time after time, as one does that brings the parameters of a model one
 * by one. The argument says what else it does. */
#include <stdint.h>
#include <string.h>

#include "spin.h"

enum { BYTES = 24 << 10, TIMES = 50 };

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *device, void *host, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuIpcGetMemHandle(void *handle, uint64_t device);

static unsigned char given[BYTES], got[BYTES], right[BYTES];

/* Copies other bytes each time, waits, and writes the memory again. */
static void bring(uint64_t to, unsigned value, void *stream) {
  memset(given, (int)value, BYTES);
  RUN(cuMemcpyHtoDAsync_v2(to, given, BYTES, stream));
  RUN(cuStreamSynchronize(stream));
  memset(given, 255, BYTES);
}

static int differs(unsigned value) {
  memset(right, (int)value, BYTES);
  return memcmp(got, right, BYTES) != 0;
}

/* How often a copy in a second stream, which waits for no other stream, did not get what the program had brought in a first one. */
static int in_other_streams(uint64_t device, uint64_t copy) {
  void *streams[2];
  int wrong = 0;
  for (int i = 0; i < 2; i++) RUN(cuStreamCreate(&streams[i], 1)); /* CU_STREAM_NON_BLOCKING */
  for (unsigned i = 0; i < TIMES; i++) {
    void *stream = i % 3 ? streams[0] : NULL;
    for (unsigned k = 0; k < 3; k++) bring(device, i + k, stream);
    RUN(cuMemcpyDtoDAsync_v2(copy, device, BYTES, streams[1]));
    RUN(cuStreamSynchronize(streams[1]));
    RUN(cuMemcpyDtoHAsync_v2(got, copy, BYTES, streams[1]));
    RUN(cuStreamSynchronize(streams[1]));
    wrong += differs(i + 2);
  }
  return wrong;
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  void *kernel = load_spin(), *host;
  char handle[64];
  uint64_t device, copy;
  int wrong = 0;
  RUN(cuMemAlloc_v2(&device, BYTES));
  RUN(cuMemAlloc_v2(&copy, BYTES));
  if (!strcmp(what, "streams")) {
    wrong = in_other_streams(device, copy);
    printf("other bytes: %d\n", wrong);
    return 0;
  }
  if (!strcmp(what, "shared")) RUN(cuIpcGetMemHandle(handle, device));
  if (!strcmp(what, "mapped")) {
    RUN(cuMemHostAlloc(&host, BYTES, 2)); /* CU_MEMHOSTALLOC_DEVICEMAP */
    RUN(cuMemHostGetDevicePointer_v2(&device, host, 0));
  }
  for (unsigned i = 0; i < TIMES; i++) {
    if (!strcmp(what, "kernels")) launch_spin(kernel, 10);
    bring(device, i, NULL);
    if (!strcmp(what, "mapped")) {
      memcpy(got, host, BYTES);
      wrong += differs(i);
    }
  }
  RUN(cuMemcpyDtoH_v2(got, device, BYTES));
  printf("other bytes: %d\n", wrong + differs(TIMES - 1));
  return 0;
}
