/* Work under way in streams, and host functions. */
#ifndef GRAFT_STREAMS_H
#define GRAFT_STREAMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct graft_session;

/* Atomic. */
struct graft_stream_state {
  bool waits; /* a stream was told to wait for a value, so that the program may still write memory that queued copies read */
};

/* Host functions and stream callbacks that have not run. Guarded by lock; outstanding and replays are read without it. */
struct graft_host_functions {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started; /* the listener */
  uint64_t last;
  int outstanding;
  bool replays;                   /* some are in graphs, and may run at any time */
  struct graft_callback *waiting; /* in a stream or a graph */
  struct graft_callback *ready, **ready_end;
};

/* The stream behind a handle, NULL for the default streams. */
int graft_stream_find(void *handle, struct graft_object **stream);
/* Waits for a stream, as cuStreamSynchronize does, also where a capture forbids the program that. */
int graft_stream_wait(void *stream);
/* Returns when all work is over that work queued in the stream now would wait for, so that the calling thread can do such work itself. */
int graft_stream_reach(void *stream);
/* For a call that is work in the stream, but needs none at the server: later waits for the stream wait for what such work would wait for. */
int graft_stream_pass(void *stream);
/* Queues a point in the stream at which mirrored memory is brought up to date with what the program has written by then. */
int graft_stream_look(void *stream);
/* Whether a stream was ever told to wait for a value, which the program may write at any time. */
bool graft_values_are_waited_for(void);

/* Makes a host function ready to run, since its stream has reached it. False if there is none of this identity. */
bool graft_callback_arrived(struct graft_session *session, uint64_t identity);
/* Enters a host function that a graph's node runs at each launch. Returns its identity, or 0 without memory. */
uint64_t graft_callback_of_graph(void *function, void *data);
/* Whether host functions in streams or graphs may still run. */
bool graft_callbacks_may_come(void);

/* Waits until the server has executed what was sent, but not until the GPU has. Returns the first error of it. */
int graft_calls_executed(void);

#endif
