/* The model: buffers, their expected contents, and the queued work that uses them. */
#ifndef MEMORY_MODEL_H
#define MEMORY_MODEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver.h"

/* SHARED memory is the program's, opened by its other process; OPENED memory is that process's. PEER memory is on a second device. */
enum kind {
  DEV,
  POOL,
  GLOBAL,
  PINNED,
  PORTABLE,
  COMBINED,
  MAPPED,
  REGISTERED,
  MANAGED,
  PAGEABLE,
  FLAT,
  CUBE,
  SHARED,
  OPENED,
  PEER,
  KINDS
};
extern const char *const names[KINDS];

#define STREAMS 4
#define PENDING 24
#define LOG 48
#define SIDE 64 /* the width of a row of arrays */

/* Small allocations share a block, which a handle names as a whole; one of this size has a block of its own (cuIpcGetMemHandle). */
#define BLOCK ((size_t)2 << 20)
enum { TO_ALL = -1, TO_PROGRAM = -2 }; /* of buffer.attached: every stream may use the memory, or none */

struct span {
  size_t from, to;
};
struct buffer {
  enum kind kind;
  size_t bytes, height, depth; /* of arrays: rows of SIDE bytes */
  uint8_t *host;               /* NULL if the program cannot access it */
  uint8_t *base;               /* the allocation's address */
  ptr device;                  /* 0 if kernels cannot access it */
  handle array;
  uint8_t *model;
  int attached;                 /* of managed memory: a stream, or one of the values below */
  int owner;                    /* the stream with the last work that uses the buffer, -1 if no work is pending */
  struct span pending[PENDING]; /* the bytes that queued work reads or writes */
  int spans;
  bool by_host; /* a host function that is pending changes the buffer */
};

/* The effect of an operation on the model. A captured graph has it once for each launch. */
struct effect {
  enum { NO_EFFECT, COPY, FILL, FILL_16, FILL_32, ADD, BY_HOST, COPY_ROWS } what;
  struct buffer *to, *from;
  size_t at, at_from, bytes;
  unsigned value;
  size_t rows, slices, pitch, pitch_from, slice, slice_from;
};

enum { MOST_EFFECTS = 6, KEPT_GRAPHS = 3 };
/* An executable graph, with the effects of its nodes. */
struct kept_graph {
  handle executable;
  struct effect effects[MOST_EFFECTS];
  int count;
};

struct thread {
  pthread_t id;
  int number;
  uint64_t random;
  struct buffer *buffers;
  int count;
  handle streams[STREAMS], event[STREAMS];
  size_t most;
  char log[LOG][160];
  unsigned logged;
  unsigned long rounds, failed, operations;
  bool capturing, has_others;
  struct kept_graph graphs[KEPT_GRAPHS];
  int other;                   /* a socket to the other process, -1 without one */
  handle our_event, its_event; /* shared with that process: each says how far its side has come */
  uint32_t *flag;              /* pinned, for streams that wait */
  uint32_t flag_value;
};

/* The parameter of the kernel "both". Most of it is unused, as in PyTorch's lists of tensors, and has addresses that the kernel does not use. */
struct both {
  ptr unused[64], to, from;
  uint64_t bytes;
  unsigned value;
};
extern handle module, kernel_add, kernel_move, kernel_both, contexts[2]; /* contexts[1]: of a second device, NULL without one */
extern bool unwaited, busy, apart, strict, concurrent_managed, kernels_reach_peer, large, trace;

/* Random numbers: of 64 bits, below n, and from 1 to most with as many small as large ones. */
uint64_t next(struct thread *t);
size_t below(struct thread *t, size_t n);
size_t of_any_size(struct thread *t, size_t most);

/* Notes an operation, to be printed with a difference that is found later. */
void say(struct thread *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints an error with the operations before it, and ends the program, since the contents of memory are undefined after an error. */
void check(struct thread *t, int r, const char *what);
#define CHECK(call) check(t, call, #call)

/* ---- Buffers ---- */
bool is_array(const struct buffer *b);
void make(struct thread *t, struct buffer *b, enum kind kind);
void end(struct thread *t, struct buffer *b);
/* Ends a buffer and makes another one of its kind, or registers the same memory again, while work on other buffers may be pending. */
void renew(struct thread *t, struct buffer *b);
/* Notes that no queued work uses the buffer any more. */
void over(struct buffer *b);
void wait_for(struct thread *t, int stream);
/* Notes that work of a stream uses a part of a buffer from now on. With -1 the program itself waits for the work on the buffer. */
void use(struct thread *t, struct buffer *b, int stream, size_t from, size_t to);
/* Whether work of a stream may use the buffer; with the stream 0, work that is waited for. */
bool may_work(const struct buffer *b, int stream);
/* Waits for the work on a pageable source, since the driver may read it during the call and not when the stream reaches the copy. */
void await_source(struct thread *t, struct buffer *from);
bool may_touch(const struct thread *t, const struct buffer *b);
struct buffer *any(struct thread *t);
/* The length of an operation, at random up to a number of bytes. */
size_t a_length(struct thread *t, size_t most);

/* ---- The program's own accesses ---- */
/* Prints bytes that differ from the model. */
void differs(struct thread *t, const struct buffer *b, const uint8_t *found, size_t from, size_t to, const char *when);
void look(struct thread *t, struct buffer *b, size_t from, size_t to, const char *when);
/* Writes or reads bytes that no queued work uses, even if queued work uses their neighbours. */
void touch(struct thread *t);

/* ---- Managed memory (managed.c) ---- */
/* Advises on a part of managed memory, prefetches it, or attaches the memory to a stream, the program or all. */
void hint(struct thread *t);

/* ---- Other processes and devices (others.c) ---- */
/* Starts a process that shares memory and events with the caller's thread. Called before CUDA starts. Returns a socket to the process. */
int start_other(void);
/* Exchanges events with the other process. */
void meet_other(struct thread *t);
/* Ends what meet_other began. The other process stays, for the next seed. */
void leave_other(struct thread *t);
/* Allocate memory that both processes use, and free it. The index of the buffer names it. */
void make_common(struct thread *t, struct buffer *b, size_t bytes);
void end_common(struct thread *t, struct buffer *b);
/* Finds the driver and makes contexts and kernels; ends the program if that fails. */
void start_cuda(void);

/* ---- Work (work.c) ---- */
/* Has the other process change memory, in the order of a stream of this one. */
struct effect by_other(struct thread *t, int stream);
/* Queues random work in a stream. Returns the effect of the work on the model. */
struct effect work(struct thread *t, int stream);
/* Applies an effect to the model. */
void apply(const struct effect *e);
/* The data of a host function, which says what it does. */
struct host_work {
  uint8_t *at;
  size_t bytes;
  uint8_t value;
  bool once;
};
void run_on_host(void *data);

#endif
