/* Two processes share memory and an event: one process exports the handles, the other opens them. Built with gcc alone. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct handle {
  unsigned char bytes[64];
};

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count);
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamQuery(void *stream);
int cuStreamWaitValue32_v2(void *stream, uint64_t pointer, unsigned value, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *memory, unsigned flags);
int cuIpcGetMemHandle(struct handle *handle, uint64_t pointer);
int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct handle handle, unsigned flags);
int cuIpcCloseMemHandle(uint64_t pointer);
int cuIpcGetEventHandle(struct handle *handle, void *event);
int cuIpcOpenEventHandle(void **event, struct handle handle);
int cuMemGetAllocationGranularity(size_t *granularity, const void *properties, int option);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags);
int cuMemRelease(uint64_t handle);
int cuMemAddressReserve(uint64_t *pointer, size_t bytes, size_t alignment, uint64_t address, uint64_t flags);
int cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
int cuMemSetAccess(uint64_t pointer, size_t bytes, const void *access, size_t count);
int cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type, uint64_t flags);
int cuMemImportFromShareableHandle(uint64_t *handle, void *shareable, int type);
int cuMemPoolCreate(void **pool, const void *properties);
int cuMemAllocFromPoolAsync(uint64_t *pointer, size_t bytes, void *pool, void *stream);
int cuMemFreeAsync(uint64_t pointer, void *stream);
int cuMemPoolExportToShareableHandle(void *shareable, void *pool, int type, uint64_t flags);
int cuMemPoolImportFromShareableHandle(void **pool, void *shareable, int type, uint64_t flags);
int cuMemPoolExportPointer(struct handle *handle, uint64_t pointer);
int cuMemPoolImportPointer(uint64_t *pointer, void *pool, const struct handle *handle);

enum { COUNT = 300000, LAZY_PEER_ACCESS = 1, DISABLE_TIMING = 2, INTERPROCESS = 4, DESCRIPTOR = 1, INVALID_VALUE = 1 };

static int other; /* the other process */

static void tell(const void *data, size_t bytes) {
  if (write(other, data, bytes) != (ssize_t)bytes) exit(2);
}

static void hear(void *data, size_t bytes) {
  if (recv(other, data, bytes, MSG_WAITALL) != (ssize_t)bytes) exit(2);
}

static void tell_descriptor(int fd) {
  char byte = 0, room[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(control), &fd, sizeof fd);
  if (sendmsg(other, &message, 0) != 1) exit(2);
}

static int hear_descriptor(void) {
  int fd = -1;
  char byte, room[CMSG_SPACE(sizeof fd)];
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(other, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) exit(2);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

static void start(void) {
  void *context;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
}

static int holds(uint64_t memory, unsigned value) {
  static unsigned words[COUNT];
  RUN(cuMemcpyDtoH_v2(words, memory, sizeof words));
  for (int i = 0; i < COUNT; i++) {
    if (words[i] != value) return 0;
  }
  return 1;
}

static int physical_properties[8] = {1, DESCRIPTOR, 1, 0};  /* pinned, with descriptors, on device 0 */
static int physical_access[3] = {1, 0, 3};                  /* device 0, reading and writing */

/* CUmemPoolProps: pinned, with descriptors, on device 0. */
static int pool_properties[22] = {1, DESCRIPTOR, 1, 0};

static uint64_t lay_out(uint64_t handle, size_t bytes) {
  uint64_t memory;
  RUN(cuMemAddressReserve(&memory, bytes, 0, 0, 0));
  RUN(cuMemMap(memory, bytes, 0, handle, 0));
  RUN(cuMemSetAccess(memory, bytes, physical_access, 1));
  return memory;
}

/* An event is recorded behind work that waits, and again in an idle stream. Who waits for the first recording waits for that work. */
static void record_twice(void *event) {
  unsigned *flag;
  uint64_t at;
  void *held, *idle;
  char done;
  RUN(cuMemHostAlloc((void **)&flag, 64, 3)); /* portable, mapped */
  *flag = 0;
  RUN(cuMemHostGetDevicePointer_v2(&at, flag, 0));
  RUN(cuStreamCreate(&held, 1));
  RUN(cuStreamCreate(&idle, 1));
  RUN(cuStreamWaitValue32_v2(held, at, 1, 0));
  RUN(cuEventRecord(event, held));
  tell("", 1);
  hear(&done, 1); /* the other process waits for the first recording */
  RUN(cuEventRecord(event, idle));
  RUN(cuStreamSynchronize(idle));
  tell("", 1);
  hear(&done, 1); /* the other process has seen that it still waits */
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  RUN(cuStreamSynchronize(held));
}

static void wait_for_first(void *event, void *stream) {
  enum { NOT_READY = 600 };
  char done;
  hear(&done, 1);
  RUN(cuStreamWaitEvent(stream, event, 0));
  tell("", 1);
  hear(&done, 1);
  int still = 1;
  for (int i = 0; i < 20 && still; i++) { /* 40 ms, in which a wait that ended too early would be seen */
    still = cuStreamQuery(stream) == NOT_READY;
    usleep(2000);
  }
  printf("the taker waits for the recording that it asked for: %s\n", still ? "yes" : "no");
  tell("", 1);
  RUN(cuStreamSynchronize(stream));
}

static int giver(void) {
  uint64_t small, memory, handle;
  void *event;
  struct handle of_memory, again, of_event;
  size_t bytes;
  int fd;
  char done;
  start();
  RUN(cuMemAlloc_v2(&small, 1000));
  RUN(cuMemAlloc_v2(&memory, COUNT * 4));
  RUN(cuMemsetD32_v2(memory, 11, COUNT));
  RUN(cuIpcGetMemHandle(&of_memory, memory));
  RUN(cuIpcGetMemHandle(&again, memory));
  printf("the same handle for the same memory: %s\n", memcmp(&of_memory, &again, 64) ? "no" : "yes");
  RUN(cuEventCreate(&event, DISABLE_TIMING | INTERPROCESS));
  RUN(cuIpcGetEventHandle(&of_event, event));
  tell(&of_memory, 64);
  tell(&of_event, 64);
  hear(&done, 1); /* the other process has read the memory */
  for (int i = 0; i < 50; i++) RUN(cuMemsetD32Async(memory, 20 + i, COUNT, NULL));
  RUN(cuEventRecord(event, NULL));
  tell("", 1);
  hear(&done, 1); /* the other process has written to the memory */
  RUN(cuEventSynchronize(event));
  printf("the giver sees what the other wrote: %s\n", holds(memory, 5) ? "yes" : "no");
  RUN(cuMemGetAllocationGranularity(&bytes, physical_properties, 0));
  while (bytes < COUNT * 4) bytes *= 2;
  RUN(cuMemCreate(&handle, bytes, physical_properties, 0));
  uint64_t mapped = lay_out(handle, bytes);
  RUN(cuMemsetD32_v2(mapped, 33, COUNT));
  RUN(cuMemExportToShareableHandle(&fd, handle, DESCRIPTOR, 0));
  tell(&bytes, sizeof bytes);
  tell_descriptor(fd);
  hear(&done, 1);
  printf("the giver sees it in physical memory too: %s\n", holds(mapped, 44) ? "yes" : "no");
  void *pool;
  uint64_t of_pool;
  struct handle of_pointer;
  RUN(cuMemPoolCreate(&pool, pool_properties));
  RUN(cuMemAllocFromPoolAsync(&of_pool, COUNT * 4, pool, NULL));
  RUN(cuMemsetD32_v2(of_pool, 55, COUNT));
  RUN(cuCtxSynchronize());
  RUN(cuMemPoolExportToShareableHandle(&fd, pool, DESCRIPTOR, 0));
  RUN(cuMemPoolExportPointer(&of_pointer, of_pool));
  tell_descriptor(fd);
  tell(&of_pointer, 64);
  hear(&done, 1); /* the other process has freed it */
  printf("the giver sees it in a pool's memory too: %s\n", holds(of_pool, 66) ? "yes" : "no");
  RUN(cuMemFreeAsync(of_pool, NULL));
  record_twice(event);
  return 0;
}

static int taker(void) {
  uint64_t memory, twice, handle;
  void *event, *stream;
  struct handle of_memory, of_event, made_up;
  size_t bytes;
  char done;
  start();
  hear(&of_memory, 64);
  hear(&of_event, 64);
  memset(&made_up, 0x5a, sizeof made_up);
  printf("a handle that was made up: %d\n", cuIpcOpenMemHandle_v2(&memory, made_up, LAZY_PEER_ACCESS));
  printf("an event's handle for memory: %d\n", cuIpcOpenMemHandle_v2(&memory, of_event, LAZY_PEER_ACCESS));
  RUN(cuIpcOpenMemHandle_v2(&memory, of_memory, LAZY_PEER_ACCESS));
  RUN(cuIpcOpenMemHandle_v2(&twice, of_memory, LAZY_PEER_ACCESS));
  printf("opened twice, at one address: %s\n", memory == twice ? "yes" : "no");
  RUN(cuIpcCloseMemHandle(twice));
  printf("the taker sees what the giver wrote: %s\n", holds(memory, 11) ? "yes" : "no");
  printf("it cannot free what is not its own: %s\n", cuMemFree_v2(memory) == INVALID_VALUE ? "yes" : "no");
  RUN(cuIpcOpenEventHandle(&event, of_event));
  RUN(cuStreamCreate(&stream, 1));
  tell("", 1);
  hear(&done, 1);
  RUN(cuStreamWaitEvent(stream, event, 0));
  RUN(cuMemsetD32Async(memory, 5, COUNT, stream));
  RUN(cuEventRecord(event, stream));
  tell("", 1);
  RUN(cuStreamSynchronize(stream));
  hear(&bytes, sizeof bytes);
  int fd = hear_descriptor();
  RUN(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, DESCRIPTOR));
  uint64_t mapped = lay_out(handle, bytes);
  printf("the taker sees it in physical memory too: %s\n", holds(mapped, 33) ? "yes" : "no");
  RUN(cuMemsetD32_v2(mapped, 44, COUNT));
  RUN(cuCtxSynchronize());
  tell("", 1);
  RUN(cuIpcCloseMemHandle(memory));
  printf("closed twice: %d\n", cuIpcCloseMemHandle(memory));
  void *pool;
  uint64_t of_pool;
  struct handle of_pointer;
  fd = hear_descriptor();
  hear(&of_pointer, 64);
  RUN(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, DESCRIPTOR, 0));
  printf("memory's handle for a pool's: %d\n", cuMemPoolImportPointer(&of_pool, pool, &of_memory));
  RUN(cuMemPoolImportPointer(&of_pool, pool, &of_pointer));
  printf("the taker sees it in a pool's memory too: %s\n", holds(of_pool, 55) ? "yes" : "no");
  RUN(cuMemsetD32_v2(of_pool, 66, COUNT));
  RUN(cuCtxSynchronize());
  RUN(cuMemFreeAsync(of_pool, NULL));
  RUN(cuCtxSynchronize());
  tell("", 1);
  wait_for_first(event, stream);
  return 0;
}

int main(void) {
  int ends[2], status;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
  pid_t child = fork(); /* before CUDA starts: a process must not fork after it has used CUDA */
  other = ends[child == 0];
  close(ends[child != 0]);
  if (!child) {
    int r = taker();
    fflush(stdout);
    return r;
  }
  int r = giver(); /* the giver prints its last line after those of the other process */
  if (waitpid(child, &status, 0) != child || status) return 3;
  return r;
}
