/* The state of a thread of the fuzzer, and the driver's functions. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *handle;

#define FUNCTIONS(F)                                                                                                          \
  F(cuInit, (unsigned))                                                                                                       \
  F(cuDevicePrimaryCtxRetain, (handle *, int))                                                                                \
  F(cuCtxCreate_v2, (handle *, unsigned, int))                                                                                \
  F(cuCtxDestroy_v2, (handle))                                                                                                \
  F(cuCtxSetCurrent, (handle))                                                                                                \
  F(cuCtxGetCurrent, (handle *))                                                                                              \
  F(cuCtxPushCurrent_v2, (handle))                                                                                            \
  F(cuCtxPopCurrent_v2, (handle *))                                                                                           \
  F(cuCtxSynchronize, (void))                                                                                                 \
  F(cuStreamCreate, (handle *, unsigned))                                                                                     \
  F(cuStreamDestroy_v2, (handle))                                                                                             \
  F(cuStreamSynchronize, (handle))                                                                                            \
  F(cuStreamQuery, (handle))                                                                                                  \
  F(cuStreamWaitEvent, (handle, handle, unsigned))                                                                            \
  F(cuStreamBeginCapture_v2, (handle, int))                                                                                   \
  F(cuStreamEndCapture, (handle, handle *))                                                                                   \
  F(cuEventCreate, (handle *, unsigned))                                                                                      \
  F(cuEventDestroy_v2, (handle))                                                                                              \
  F(cuEventRecord, (handle, handle))                                                                                          \
  F(cuEventQuery, (handle))                                                                                                   \
  F(cuEventSynchronize, (handle))                                                                                             \
  F(cuEventElapsedTime, (float *, handle, handle))                                                                            \
  F(cuMemAlloc_v2, (uint64_t *, size_t))                                                                                      \
  F(cuMemFree_v2, (uint64_t))                                                                                                 \
  F(cuMemAllocAsync, (uint64_t *, size_t, handle))                                                                            \
  F(cuMemFreeAsync, (uint64_t, handle))                                                                                       \
  F(cuMemsetD8Async, (uint64_t, unsigned char, size_t, handle))                                                               \
  F(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, handle))                                                               \
  F(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, handle))                                                           \
  F(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, handle))                                                                 \
  F(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                                              \
  F(cuMemHostAlloc, (void **, size_t, unsigned))                                                                              \
  F(cuMemFreeHost, (void *))                                                                                                  \
  F(cuModuleLoadData, (handle *, const void *))                                                                               \
  F(cuModuleGetFunction, (handle *, handle, const char *))                                                                    \
  F(cuModuleUnload, (handle))                                                                                                 \
  F(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **)) \
  F(cuLaunchHostFunc, (handle, void (*)(void *), void *))                                                                     \
  F(cuGraphInstantiateWithFlags, (handle *, handle, uint64_t))                                                                \
  F(cuGraphLaunch, (handle, handle))                                                                                          \
  F(cuGraphDestroy, (handle))                                                                                                 \
  F(cuGraphExecDestroy, (handle))

#define DECLARE(name, parameters) extern int(*name) parameters;
FUNCTIONS(DECLARE)

enum { CONTEXTS = 4, STREAMS = 3, EVENTS = 4, PIECES = 5, GRAPHS = 3, EFFECTS = 6, GONE = 64, MOST_BYTES = 70000 };
enum { NON_BLOCKING = 1, RELAXED = 2 };

enum what { FILL, COPY, ADD, HOST_COPY };
struct effect {
  enum what what;
  int piece, from; /* their places */
  unsigned char value;
};

struct piece {
  uint64_t at;
  size_t bytes;
  int stream;
  bool is_pooled;
  unsigned char value;
};
struct graph {
  handle exec;
  int stream, count;
  struct effect effects[EFFECTS];
};
struct context {
  handle handle;
  bool is_primary;
  handle streams[STREAMS]; /* the first is the legacy stream */
  bool has_stream[STREAMS];
  handle events[EVENTS];
  struct piece pieces[PIECES];
  struct graph graphs[GRAPHS];
  handle module, kernel;
  unsigned char *pinned;
};

enum kind { STREAM, EVENT, EXEC, MODULE, KERNEL, CONTEXT };
struct gone {
  enum kind kind;
  handle handle;
};

struct thread {
  uint64_t state, seed, sum;
  int index, step;
  bool has_failed;
  handle primary;
  struct context contexts[CONTEXTS], *in; /* in: the current one; NULL if none is, or if it is not known */
  struct gone gone[GONE];
  unsigned gone_count;
  unsigned char *bytes, *given; /* MOST_BYTES: for what is read, and for what is copied to the device */
};

extern bool with_gone, trace;

uint64_t draw(struct thread *t);
int below(struct thread *t, int n);
/* Counts a test. */
void count(bool is_right);
/* Adds a result to the sum. Returns it. */
int noted(struct thread *t, const char *call, int result);
/* The same for a call that has to succeed. */
int must(struct thread *t, const char *call, int result);
#define MUST(call) must(t, #call, call)
#define NOTE(call) noted(t, #call, call)

/* ---- lives.c ---- */

void begin_context(struct thread *t, struct context *c, bool is_primary);
/* Makes a context the current one. */
void enter(struct thread *t, struct context *c);
/* Each makes, uses or destroys one thing of a context. */
void change_stream(struct thread *t, struct context *c);
void change_event(struct thread *t, struct context *c);
void change_piece(struct thread *t, struct context *c);
void change_graph(struct thread *t, struct context *c);
void change_module(struct thread *t, struct context *c);
void change_pinned(struct thread *t, struct context *c);
/* Calls a function with a handle of what has gone. Any answer will do: later calls show whether the session and the other objects live on. */
void use_gone(struct thread *t);
/* Makes or destroys one of the thread's contexts, or changes which one is current. */
void change_context(struct thread *t);
/* Destroys all that the thread still has. */
void end(struct thread *t);

/* ---- work.c ---- */

/* Loads the kernel that work needs. */
void load(struct thread *t, struct context *c);
/* The place of a piece whose work is in this stream, and of another one; -1 where there is none. */
int find_piece(struct thread *t, const struct context *c, int stream, int *other);
/* Calls the driver for an effect in a stream. */
void queue(struct thread *t, const struct context *c, handle stream, const struct effect *e);
/* Does to a piece's value what the effect does to its bytes. */
void apply(struct context *c, const struct effect *e);
/* Queues an effect in one of the context's streams, and applies it. */
void work(struct thread *t, struct context *c);
/* Compares the bytes of one of the context's pieces with its value. */
void check(struct thread *t, struct context *c);
/* A host function; with data it takes a moment. */
void on_host(void *data);

#endif
