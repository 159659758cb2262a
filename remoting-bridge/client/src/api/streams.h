/* What is under way in streams, and the host functions in them. */
#ifndef GRAFT_STREAMS_H
#define GRAFT_STREAMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct graft_session;

/* Atomic. */
struct graft_stream_state {
  bool waits;   /* a stream may have waited for a value: then the program may write memory that queued copies read */
  int captures; /* how many are open: while none is, the server need not be asked */
};

/* Host functions and stream callbacks that have not run. Guarded by lock; outstanding and replays are read without it. */
struct graft_host_functions {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started; /* the listener */
  uint64_t last;
  int outstanding;
  bool replays;                   /* some are in graphs, and may come at any time */
  struct graft_callback *waiting; /* in a stream or a graph */
  struct graft_callback *ready, **ready_end;
};

/* Whether what is queued in a stream becomes nodes of a graph (stream.c). Asks the server only while a capture is under way. */
bool graft_stream_captures(void *stream);
/* Returns when all that work queued in the stream now would wait for is over: then the calling thread may do that work itself. */
int graft_stream_reach(void *stream);
/* Work behind this in the stream finds mirrored memory as the program has left it when the stream comes here. */
int graft_stream_look(void *stream);
/* Whether streams have been told to wait for values, which the program may write at any time. */
bool graft_values_are_waited_for(void);

/* A stream of the session has come to a host function (hostfunc.c). False if there is none of this identity. */
bool graft_callback_arrived(struct graft_session *session, uint64_t identity);
/* Enters a host function that a graph's node runs at each launch. Returns its identity, or 0 if there is no memory. */
uint64_t graft_callback_of_graph(void *function, void *data);
/* Whether host functions are in streams or graphs that have not run, or may run again. */
bool graft_callbacks_may_come(void);

#endif
