/* Several threads open and close memory of another process at the same time, so that addresses which one thread has given up are given to another. */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 4 << 20, THREADS = 4, TIMES = 500, LAZY_PEER_ACCESS = 1 };

struct handle {
  unsigned char bytes[64];
};

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t pointer);
int cuCtxSynchronize(void);
int cuIpcGetMemHandle(struct handle *handle, uint64_t pointer);
int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct handle handle, unsigned flags);
int cuIpcCloseMemHandle(uint64_t pointer);

static void *context;
static struct handle handles[THREADS];

static void begin(void) {
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
}

/* The other process, which owns the memory of all threads until this one ends. */
static void own(int tell, int end) {
  uint64_t p;
  char byte;
  begin();
  for (int i = 0; i < THREADS; i++) {
    RUN(cuMemAlloc_v2(&p, BYTES));
    RUN(cuMemsetD8_v2(p, (unsigned char)(i + 1), BYTES));
    RUN(cuIpcGetMemHandle(&handles[i], p));
  }
  RUN(cuCtxSynchronize());
  if (write(tell, handles, sizeof handles) != sizeof handles || read(end, &byte, 1)) exit(1);
  exit(0);
}

/* Opens and closes memory of the other process, and every third time allocates memory in between. */
static void *open_and_close(void *data) {
  int number = *(int *)data;
  RUN(cuCtxSetCurrent(context));
  for (int i = 0; i < TIMES; i++) {
    uint64_t p, base, own_memory = 0;
    size_t bytes;
    unsigned char byte = 0;
    RUN(cuIpcOpenMemHandle_v2(&p, handles[number], LAZY_PEER_ACCESS));
    if (i % 3 == 0) RUN(cuMemAlloc_v2(&own_memory, BYTES));
    RUN(cuMemGetAddressRange_v2(&base, &bytes, p + BYTES - 1));
    if (base != p || bytes < BYTES) printf("thread %d: memory at another place or of %zu bytes\n", number, bytes);
    RUN(cuMemcpyDtoH_v2(&byte, p + BYTES - 1, 1));
    if (byte != number + 1) printf("thread %d: memory of thread %d\n", number, byte - 1);
    RUN(cuIpcCloseMemHandle(p));
    RUN(cuMemFree_v2(own_memory));
  }
  return NULL;
}

int main(void) {
  int told[2], end[2], numbers[THREADS];
  pthread_t threads[THREADS];
  if (pipe(told) || pipe(end)) return 1;
  pid_t other = fork();
  if (other < 0) return 1;
  if (!other) {
    close(end[1]);
    own(told[1], end[0]);
  }
  close(told[1]);
  if (read(told[0], handles, sizeof handles) != sizeof handles) return 1;
  begin();
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, open_and_close, &numbers[i])) return 1;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  close(end[1]);
  int status = 1;
  waitpid(other, &status, 0);
  printf("opened and closed %d times\n", THREADS * TIMES);
  return status ? 1 : 0;
}
