/* A copy to pinned memory waits in a stream while the program waits for other work, which must not be taken for the end of the copy: after a wait for the copy
 * itself the program has its bytes. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "check.h"

enum { BYTES = 70000, NON_BLOCKING = 1, RELAXED = 2 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamQuery(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventQuery(void *event);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphAddEventRecordNode(void **node, void *graph, void **dependencies, size_t count, void *event);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);

static uint64_t source, later, target;
static uint8_t *memory, value;
static void *context, *held, *other, *third, *event, *second;

static void pause_a_while(void *unused) {
  struct timespec pause = {0, 300000000};
  nanosleep(&pause, NULL);
}

static void nothing(void *unused) {}

static bool has_value(void) {
  size_t right = 0;
  for (size_t i = 0; i < BYTES; i++) right += memory[i] == value;
  return right == BYTES;
}

static void look(void *found) { *(bool *)found = has_value(); }

/* Queues a copy of a new value behind a pause, and records the event behind it. */
static void begin(void) {
  RUN(cuMemsetD8_v2(source, ++value, BYTES));
  RUN(cuCtxSynchronize());
  RUN(cuLaunchHostFunc(held, pause_a_while, NULL));
  RUN(cuMemcpyDtoDAsync_v2(target, source, BYTES, held));
  RUN(cuEventRecord(event, held));
}

static void end(const char *what) {
  RUN(cuStreamSynchronize(held));
  printf("%s: %s\n", what, has_value() ? "right" : "wrong");
}

static void *await_event(void *unused) {
  RUN(cuCtxSetCurrent(context));
  RUN(cuEventSynchronize(event));
  return NULL;
}

/* A thread waits for the event while the event is recorded again, behind a copy of the next value in another stream, which that wait does not cover. */
static void record_during_a_wait(void) {
  pthread_t thread;
  struct timespec moment = {0, 50000000}; /* a thread that begins later waits for the second record, and nothing is shown */
  RUN(cuMemsetD8_v2(later, (unsigned char)(value + 2), BYTES));
  begin();
  if (pthread_create(&thread, NULL, await_event, NULL)) exit(1);
  nanosleep(&moment, NULL);
  RUN(cuLaunchHostFunc(other, pause_a_while, NULL));
  RUN(cuMemcpyDtoDAsync_v2(target, later, BYTES, other));
  RUN(cuEventRecord(event, other));
  pthread_join(thread, NULL);
  RUN(cuStreamSynchronize(held));
  RUN(cuStreamSynchronize(other));
  value++;
  end("an event that was recorded again during a wait for it");
}

static void prepare(void) {
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuMemAlloc_v2(&source, BYTES));
  RUN(cuMemAlloc_v2(&later, BYTES));
  RUN(cuMemHostAlloc((void **)&memory, BYTES, 0));
  RUN(cuMemHostGetDevicePointer_v2(&target, memory, 0));
  RUN(cuStreamCreate(&held, NON_BLOCKING));
  RUN(cuStreamCreate(&other, NON_BLOCKING));
  RUN(cuStreamCreate(&third, NON_BLOCKING));
  RUN(cuEventCreate(&event, 0));
  RUN(cuEventCreate(&second, 0));
}

/* The program itself waits for events. */
static void wait_for_events(void) {
  begin();
  RUN(cuEventRecord(event, other));
  RUN(cuEventSynchronize(event));
  end("a wait for an event that was recorded again");

  begin();
  RUN(cuEventRecord(second, other));
  RUN(cuEventSynchronize(second));
  cuEventQuery(event);
  end("a wait for another event, and a question that was answered no");

  record_during_a_wait();

  begin();
  RUN(cuEventSynchronize(event));
  printf("a wait for an event behind the copy: %s\n", has_value() ? "right" : "wrong");
  end("the same, and a wait for the copy");

  begin();
  while (cuEventQuery(event)) {}
  printf("a question that was answered yes: %s\n", has_value() ? "right" : "wrong");
  end("the same, and a wait for the copy");
}

int main(void) {
  void *graph, *node, *exec;
  prepare();

  begin();
  RUN(cuStreamSynchronize(other));
  end("a wait for another stream");

  begin();
  RUN(cuLaunchHostFunc(other, nothing, NULL));
  RUN(cuStreamSynchronize(other));
  end("a host function in another stream");

  begin();
  cuStreamQuery(held);
  RUN(cuStreamSynchronize(other));
  end("a question that was answered no");

  begin();
  RUN(cuStreamDestroy_v2(held));
  RUN(cuStreamCreate(&held, NON_BLOCKING));
  RUN(cuStreamSynchronize(held));
  RUN(cuCtxSynchronize());
  end("a new stream in the place of one that was destroyed");

  begin();
  RUN(cuEventRecord(event, other));
  RUN(cuStreamWaitEvent(third, event, 0));
  RUN(cuStreamSynchronize(third));
  end("an event that was recorded again");

  wait_for_events();

  begin();
  RUN(cuStreamWaitEvent(third, event, 0));
  RUN(cuStreamSynchronize(third));
  printf("an event behind the copy: %s\n", has_value() ? "right" : "wrong");
  end("the same, and a wait for the copy");

  bool found = false;
  begin();
  RUN(cuStreamWaitEvent(other, event, 0));
  RUN(cuEventRecord(second, other));
  RUN(cuStreamWaitEvent(third, second, 0));
  RUN(cuLaunchHostFunc(third, look, &found));
  RUN(cuStreamSynchronize(third));
  printf("a host function behind two events: %s\n", found && has_value() ? "right" : "wrong");
  end("the same, and a wait for the copy");

  begin();
  RUN(cuStreamBeginCapture_v2(held, RELAXED));
  RUN(cuEventRecord(event, held));
  RUN(cuStreamWaitEvent(third, event, 0));
  RUN(cuEventRecord(second, third));
  RUN(cuStreamWaitEvent(held, second, 0));
  RUN(cuStreamEndCapture(held, &graph));
  RUN(cuStreamSynchronize(third));
  end("an event that was recorded in a capture");

  RUN(cuGraphCreate(&graph, 0));
  RUN(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  begin();
  RUN(cuGraphLaunch(exec, other));
  RUN(cuStreamSynchronize(other));
  RUN(cuStreamWaitEvent(third, event, 0));
  RUN(cuStreamSynchronize(third));
  end("an event that a graph has recorded");

  begin();
  RUN(cuGraphLaunch(exec, other));
  RUN(cuEventSynchronize(event));
  end("a wait for an event that a graph has recorded");
  return 0;
}
