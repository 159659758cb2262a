/* Data that the server has kept from other sessions of this client's name is not sent again; its SHA-256 is. */
#ifndef GRAFT_KNOWN_DATA_H
#define GRAFT_KNOWN_DATA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_KNOWN_DATA_MOST 480
#define GRAFT_KNOWN_DATA_HINT 16 /* the bytes of a hash that the server tells; it compares the whole hash itself */

struct graft_known_data {
  pthread_mutex_t lock;
  bool asked; /* guarded by lock */
  /* The beginnings of the hashes, then zeros. A read writes them once, after the session has asked; then they are constant. */
  uint8_t hints[GRAFT_KNOWN_DATA_MOST][GRAFT_KNOWN_DATA_HINT];
};

/* Asks the server of the calling thread's session for the hashes, without waiting for them, if the connection is slow by now. Called
 * before a call that waits, so that the hashes arrive ahead of its answer. */
void graft_known_data_begin(void);
/* Copies the program's data to the device, as rpc_graftWrite does: the data is taken now. */
int graft_known_data_write(uint64_t to, const void *from, size_t bytes, void *stream);

#endif
