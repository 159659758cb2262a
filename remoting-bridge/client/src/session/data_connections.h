/* Data connections: further connections of the session for bulk data, so that one TCP stream is not the limit. */
#ifndef GRAFT_DATA_CONNECTIONS_H
#define GRAFT_DATA_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

struct graft_session;

/* Bulk data of this size and more is sent on data connections. */
#define GRAFT_APART_LEAST (512u << 10)
#define GRAFT_MOST_DATA_CONNECTIONS 16

struct graft_transfer;

struct graft_data_connection {
  struct graft_session *session;
  struct graft_connection connection;
};

struct graft_data_connections {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  bool tried;                                  /* written under lock, read atomically */
  int count;                                   /* the same */
  uint64_t next_nanoseconds, done_nanoseconds; /* constant once tried */
  struct graft_data_connection each[GRAFT_MOST_DATA_CONNECTIONS];
  struct graft_transfer *first, **end; /* transfers that no sender has claimed whole, the oldest first; guarded by lock */
};

/* Opens the connections at the first call. False if the session has none. */
bool graft_data_connections_ready(struct graft_session *session);
/* Sends the data of a transfer in the background; the numbers of transfers rise from call to call. The caller waits with graft_data_connections_wait. The result is NULL if there is no memory for the transfer, which ends the session. */
struct graft_transfer *graft_data_connections_send(struct graft_session *session, uint64_t number, const void *data, size_t bytes);
/* Returns when all data of a transfer has been read from the program's memory. */
void graft_data_connections_wait(struct graft_session *session, struct graft_transfer *transfer);
/* Shuts the connections down, which wakes the threads that wait on them. */
void graft_data_connections_shutdown(struct graft_session *session);

#endif
