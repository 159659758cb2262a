/* Data connections: further connections of the session for bulk data, so that one TCP stream is not the limit. */
#ifndef GRAFT_DATA_CONNECTIONS_H
#define GRAFT_DATA_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

struct graft_session;

/* From here on bulk data travels on data connections. */
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
  bool tried;                                  /* written under lock, read without */
  int count;                                   /* the same */
  uint64_t next_nanoseconds, done_nanoseconds; /* constant once tried */
  struct graft_data_connection each[GRAFT_MOST_DATA_CONNECTIONS];
  struct graft_transfer *first, **end; /* transfers of which a part is not claimed by a sender yet, oldest first; guarded by lock */
};

/* Opens the connections when it is first called. False if there are none. */
bool graft_data_connections_ready(struct graft_session *session);
/* Sends the data of a transfer, whose numbers must rise from call to call, in the background. The caller waits for it by
 * graft_data_connections_wait, unless the memory stays: then the result is NULL, as it is when memory is short and the session ends. */
struct graft_transfer *graft_data_connections_send(struct graft_session *session, uint64_t number, const void *data, size_t bytes,
                                                   bool stays);
/* Returns when all data of a transfer has been read from the program's memory. */
void graft_data_connections_wait(struct graft_session *session, struct graft_transfer *transfer);
/* Ends the connections, which wakes the threads that wait in them. */
void graft_data_connections_shutdown(struct graft_session *session);

#endif
