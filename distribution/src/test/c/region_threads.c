/* Several threads pin memory, have the device write to it, and give it up, so that parts of the memory which a guest shares with its server go from thread to thread. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, TIMES = 60, MOST = 5 << 20, STEPS = 5 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *memory, unsigned flags);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);

static void *context;

static void *pin_and_unpin(void *data) {
  int number = *(int *)data;
  void *stream;
  unsigned char *own = malloc(MOST);
  RUN(cuCtxSetCurrent(context));
  RUN(cuStreamCreate(&stream, 1));
  for (int i = 0; i < TIMES; i++) {
    size_t bytes = (size_t)(1 + (i * 7 + number * 3) % STEPS) * (MOST / STEPS);
    unsigned char value = (unsigned char)(1 + (i * THREADS + number) % 255);
    void *memory = own;
    uint64_t device;
    if (i % 2) {
      RUN(cuMemHostAlloc(&memory, bytes, 0));
    } else {
      RUN(cuMemHostRegister_v2(memory, bytes, 0));
    }
    RUN(cuMemHostGetDevicePointer_v2(&device, memory, 0));
    RUN(cuMemsetD8Async(device, value, bytes, stream));
    RUN(cuStreamSynchronize(stream));
    for (size_t k = 0; k < bytes; k += 4095) {
      if (((unsigned char *)memory)[k] != value) printf("thread %d has another's bytes\n", number), exit(1);
    }
    if (i % 2) {
      RUN(cuMemFreeHost(memory));
    } else {
      RUN(cuMemHostUnregister(memory));
    }
  }
  free(own);
  return NULL;
}

int main(void) {
  int numbers[THREADS];
  pthread_t threads[THREADS];
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, pin_and_unpin, &numbers[i])) return 1;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("pinned %d times\n", THREADS * TIMES);
  return 0;
}
