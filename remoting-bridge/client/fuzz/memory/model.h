/* The model: buffers, what each should hold, and which queued work uses them. */
#ifndef MEMORY_MODEL_H
#define MEMORY_MODEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver.h"

enum kind { DEV, POOL, GLOBAL, PINNED, PORTABLE, COMBINED, MAPPED, REGISTERED, MANAGED, PAGEABLE, FLAT, CUBE, KINDS };
extern const char *const names[KINDS];

#define STREAMS 4
#define PENDING 24
#define LOG 48
#define SIDE 64 /* the width of a row of arrays */

struct span {
  size_t from, to;
};
struct buffer {
  enum kind kind;
  size_t bytes, height, depth; /* of arrays: rows of SIDE bytes */
  uint8_t *host;               /* NULL where the program cannot look */
  uint8_t *base;               /* what was allocated */
  ptr device;                  /* 0 where kernels cannot */
  handle array;
  uint8_t *model;
  int owner;                    /* the stream with the last work that uses it, -1 when all is over */
  struct span pending[PENDING]; /* where queued work reads or writes */
  int spans;
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
  uint32_t *flag; /* pinned, for streams that wait */
  uint32_t flag_value;
};

extern handle module, kernel_add, kernel_move;
extern bool concurrent_managed, trace;

/* A random number, and one below another. */
uint64_t next(struct thread *t);
size_t below(struct thread *t, size_t n);

/* Notes an operation, for what is told with a difference. */
void say(struct thread *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An error is told with what came before it, and ends the program: what is in memory then nobody promises. */
void check(struct thread *t, int r, const char *what);
#define CHECK(call) check(t, call, #call)

/* ---- Buffers ---- */
bool is_array(const struct buffer *b);
void make(struct thread *t, struct buffer *b, enum kind kind);
void end(struct thread *t, struct buffer *b);
/* No queued work uses it. */
void over(struct buffer *b);
void wait_for(struct thread *t, int stream);
/* Work of a stream uses a part of a buffer from now on; -1: the program itself waits for what there is. */
void use(struct thread *t, struct buffer *b, int stream, size_t from, size_t to);
/* The driver may read pageable memory when it is called, not when the stream comes to the copy. */
void await_source(struct thread *t, struct buffer *from);
bool may_touch(const struct thread *t, const struct buffer *b);
struct buffer *any(struct thread *t);
/* How much of so many bytes an operation uses. */
size_t a_length(struct thread *t, size_t most);

/* ---- What the program does itself ---- */
/* Tells of bytes that differ from the model. */
void differs(struct thread *t, const struct buffer *b, const uint8_t *found, size_t from, size_t to, const char *when);
void look(struct thread *t, struct buffer *b, size_t from, size_t to, const char *when);
/* Writes or reads bytes that no work uses, perhaps beside such as some does. */
void touch(struct thread *t);

/* ---- Work (work.c) ---- */
/* What a captured graph does to the model, once for each launch. */
struct effect {
  enum { NO_EFFECT, COPY, FILL, FILL_16, FILL_32, ADD, BY_HOST, COPY_ROWS } what;
  struct buffer *to, *from;
  size_t at, at_from, bytes;
  unsigned value;
  size_t rows, slices, pitch, pitch_from, slice, slice_from;
};

/* Queues some work in a stream; what it does, for the model. */
struct effect work(struct thread *t, int stream);
/* Does the same to the model. */
void apply(const struct effect *e);
/* Host functions: what they do, and the data that they get. */
struct host_work {
  uint8_t *at;
  size_t bytes;
  uint8_t value;
  bool once;
};
void run_on_host(void *data);

#endif
