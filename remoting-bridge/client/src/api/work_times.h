/* When work ran, from the server's profiling library, where the operator has given the workers one. Records of calls carry the work's number to the server
 * (graft_work_number), and the server returns entries with it (remoting-bridge/api/README.md, "Profile"). All but graft_work_number are called with work.c's lock. */
#ifndef GRAFT_WORK_TIMES_H
#define GRAFT_WORK_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_work;

/* A moment in the library's time and in the program's. */
struct graft_work_moment {
  uint64_t library, time, error; /* nanoseconds; graft_now; half of the round trip that found it */
};

/* The names of kernels that a session has got. */
struct graft_work_names {
  char **name; /* by identity - 1 */
  size_t count;
};

enum graft_time_kind { GRAFT_TIME_COPY = 1, GRAFT_TIME_FILL, GRAFT_TIME_KERNEL };

/* A piece of work as the server's GPU ran it. */
struct graft_time {
  struct graft_time *next; /* of the same number, from the first to begin to the last */
  uint32_t number;
  enum graft_time_kind kind;
  uint64_t start, end; /* the library's time */
  uint64_t bytes;
  char *name; /* of a kernel, NULL if it is not known */
  uint32_t grid[3], block[3], static_shared, shared, local, value;
  uint16_t registers;
  uint8_t from, to; /* enum graft_work_memory */
};

/* Has the current context's server record, and finds the moment. False if it has no such library. */
bool graft_work_times_begin(struct graft_work_moment *moment);
/* Ends that. */
void graft_work_times_end(void);
/* Reads what the current context's server has recorded. */
void graft_work_times_read(void);
/* Takes so many of the current session's entries from an answer, up to the first that is none. Returns the bytes that they have. */
size_t graft_work_times_add(const uint8_t *data, size_t bytes, uint32_t count);
/* How many pieces of the work of a number are known. */
size_t graft_work_times_count(uint32_t number);
/* Takes what is known of the work of a number; the caller passes it to one of the next two functions. NULL if nothing is known. */
struct graft_time *graft_work_times_take(uint32_t number);
/* Keeps the times for a later call of graft_work_times_take. */
void graft_work_times_give_back(struct graft_time *times);
void graft_work_times_free(struct graft_time *times);
/* Forgets all that was not taken: no work is waited for. */
void graft_work_times_forget(void);
/* The program's time. */
uint64_t graft_work_time(const struct graft_work_moment *moment, uint64_t library);
/* What is known of one piece of a graph, in place of the graph. */
void graft_work_piece(const struct graft_time *time, const struct graft_work_moment *moment, struct graft_work *piece);

#endif
