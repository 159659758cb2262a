/* Memory and events that two processes share by handles (cuIpc...). The other process does work when it is asked to by a message. It
 * queues the work behind our event and in front of its own, so the work takes effect in the order of a stream of this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model.h"

enum { MOST_BUFFERS = 32, EVENT_FLAGS = 2 | 4, OPEN_FLAGS = 1 }; /* no timing, for other processes; peer access when it is needed */

struct request {
  enum { MEET, OPEN, CLOSE, ALLOCATE, FREE, FILL_IT, ADD_TO_IT, WRITE_IT, LEAVE } what;
  int slot;
  size_t at, bytes;
  unsigned value;
  struct ipc_handle handle;
};
struct reply {
  int error;
  struct ipc_handle handle;
};

/* ---- The other process ---- */

struct other {
  handle stream, our_event, its_event; /* "our" is the first process's */
  ptr memory[MOST_BUFFERS];
  uint8_t *pageable; /* what WRITE_IT copies */
};

#define TRY(call)              \
  do {                         \
    int result = call;         \
    if (result) return result; \
  } while (0)

static int answer(struct other *o, const struct request *r, struct reply *reply) {
  ptr *memory = &o->memory[r->slot];
  switch (r->what) {
    case LEAVE:
      TRY(cuStreamDestroy_v2(o->stream));
      TRY(cuEventDestroy_v2(o->our_event));
      return cuEventDestroy_v2(o->its_event);
    case MEET:
      TRY(cuStreamCreate(&o->stream, 1));
      TRY(cuIpcOpenEventHandle(&o->our_event, r->handle));
      TRY(cuEventCreate(&o->its_event, EVENT_FLAGS));
      return cuIpcGetEventHandle(&reply->handle, o->its_event);
    case OPEN: return cuIpcOpenMemHandle_v2(memory, r->handle, OPEN_FLAGS);
    case CLOSE: return cuIpcCloseMemHandle(*memory);
    case ALLOCATE: TRY(cuMemAlloc_v2(memory, r->bytes)); return cuIpcGetMemHandle(&reply->handle, *memory);
    case FREE: return cuMemFree_v2(*memory);
    default: break;
  }
  ptr at = *memory + r->at;
  uint64_t bytes = r->bytes;
  unsigned value = r->value;
  void *parameters[] = {&at, &bytes, &value};
  TRY(cuStreamWaitEvent(o->stream, o->our_event, 0));
  if (r->what == FILL_IT) {
    TRY(cuMemsetD8Async(at, (unsigned char)value, bytes, o->stream));
  } else if (r->what == ADD_TO_IT) {
    TRY(cuLaunchKernel(kernel_add, 4, 1, 1, 64, 1, 1, 0, o->stream, parameters, NULL));
  } else {
    TRY(cuStreamSynchronize(o->stream)); /* the driver may read pageable memory before the stream reaches the copy */
    o->pageable = realloc(o->pageable, bytes);
    memset(o->pageable, (int)value, bytes);
    TRY(cuMemcpyHtoDAsync_v2(at, o->pageable, bytes, o->stream));
  }
  return cuEventRecord(o->its_event, o->stream);
}

static void serve(int fd) {
  struct other o = {0};
  struct request r;
  start_cuda();
  while (recv(fd, &r, sizeof r, 0) == sizeof r) {
    struct reply reply = {0};
    reply.error = answer(&o, &r, &reply);
    if (send(fd, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) break;
  }
  _exit(0);
}

/* ---- This process ---- */

int start_other(void) {
  int pair[2];
  /* Without SOCK_CLOEXEC: the processes do not call exec. Each further process inherits the sockets of those before, and ends them. */
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) {
    perror("socketpair");
    exit(2);
  }
  pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(2);
  }
  if (!pid) {
    for (int fd = 3; fd < pair[1]; fd++) close(fd);
    serve(pair[1]);
  }
  close(pair[1]);
  return pair[0];
}

static struct ipc_handle ask(struct thread *t, const struct request *r) {
  struct reply reply = {.error = -1}; /* -1: the other process has ended */
  if (send(t->other, r, sizeof *r, MSG_NOSIGNAL) != sizeof *r || recv(t->other, &reply, sizeof reply, 0) != sizeof reply)
    reply.error = -1;
  static const char *const what[] = {"cuIpcOpenEventHandle",
                                     "cuIpcOpenMemHandle",
                                     "cuIpcCloseMemHandle",
                                     "cuIpcGetMemHandle",
                                     "cuMemFree",
                                     "a fill",
                                     "a kernel",
                                     "a copy",
                                     "an end"};
  char text[80];
  snprintf(text, sizeof text, "%s in the other process", what[r->what]);
  check(t, reply.error, text);
  return reply.handle;
}

void meet_other(struct thread *t) {
  struct request r = {.what = MEET};
  CHECK(cuEventCreate(&t->our_event, EVENT_FLAGS));
  CHECK(cuIpcGetEventHandle(&r.handle, t->our_event));
  struct ipc_handle its = ask(t, &r);
  CHECK(cuIpcOpenEventHandle(&t->its_event, its));
}

void leave_other(struct thread *t) {
  ask(t, &(struct request){.what = LEAVE});
  CHECK(cuEventDestroy_v2(t->its_event));
  CHECK(cuEventDestroy_v2(t->our_event));
}

static int slot_of(const struct thread *t, const struct buffer *b) { return (int)(b - t->buffers); }

void make_common(struct thread *t, struct buffer *b, size_t bytes) {
  struct request r = {.slot = slot_of(t, b), .bytes = (bytes + BLOCK - 1) / BLOCK * BLOCK};
  if (b->kind == SHARED) {
    CHECK(cuMemAlloc_v2(&b->device, r.bytes));
    CHECK(cuIpcGetMemHandle(&r.handle, b->device));
    r.what = OPEN;
    ask(t, &r);
  } else {
    r.what = ALLOCATE;
    struct ipc_handle its = ask(t, &r);
    CHECK(cuIpcOpenMemHandle_v2(&b->device, its, OPEN_FLAGS));
  }
}

void end_common(struct thread *t, struct buffer *b) {
  struct request r = {.what = b->kind == SHARED ? CLOSE : FREE, .slot = slot_of(t, b)};
  if (b->kind == OPENED) CHECK(cuIpcCloseMemHandle(b->device));
  ask(t, &r);
  if (b->kind == SHARED) CHECK(cuMemFree_v2(b->device));
}

struct effect by_other(struct thread *t, int stream) {
  struct buffer *b = any(t);
  while (b->kind != SHARED && b->kind != OPENED) b = any(t);
  struct request r = {
      .what = (int[]){FILL_IT, ADD_TO_IT, WRITE_IT}[below(t, 3)], .slot = slot_of(t, b), .value = (unsigned)below(t, 256)};
  r.bytes = a_length(t, b->bytes < BLOCK ? b->bytes : BLOCK);
  r.at = below(t, b->bytes - r.bytes + 1);
  use(t, b, stream, r.at, r.at + r.bytes);
  say(t, "the other process %s %zu bytes of %s at %zu, stream %d",
      r.what == FILL_IT     ? "fills"
      : r.what == ADD_TO_IT ? "adds to"
                            : "writes",
      r.bytes, names[b->kind], r.at, stream);
  CHECK(cuEventRecord(t->our_event, t->streams[stream]));
  ask(t, &r);
  CHECK(cuStreamWaitEvent(t->streams[stream], t->its_event, 0));
  return (struct effect){r.what == ADD_TO_IT ? ADD : FILL, b, NULL, r.at, 0, r.bytes, r.value, 0, 0, 0, 0, 0, 0};
}
