/* Shadow mappings: memory at one address in this process and at the server, which has registered it with CUDA. On transports that share memory, both processes map the same memory; on others each has its own, zero at first, and mirror.h keeps the two equal. Names on the wire call them twins. */
#ifndef GRAFT_SHADOW_H
#define GRAFT_SHADOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_shadow_mappings {
  pthread_mutex_t lock;
  struct graft_shadow_mapping *first; /* guarded by lock */
  /* Guarded by the connection's lock: what is read, and the number of writes that the server has not answered. */
  uint8_t *piece;
  unsigned unanswered; /* changed with the lock of the list of mirrors held besides */
};

/* The functions use the calling thread's session. Allocates a shadow mapping; NULL if that fails. */
void *graft_shadow_allocate(size_t bytes);
/* Allocates one that is never shared memory. */
void *graft_shadow_pair(size_t bytes);
/* Allocates memory in this process alone, at an address at which the server can probably map memory later. For transports that share no memory. NULL if that fails. */
void *graft_shadow_reserve(size_t bytes);
/* Whether an address is in memory from graft_shadow_reserve that is not complete. */
bool graft_shadow_is_alone(uint64_t address);
/* Makes memory from graft_shadow_reserve a shadow mapping. False if it is not such memory, or the server cannot map its address. */
bool graft_shadow_complete(const void *pointer);
/* Frees any of these. False if the pointer is not the beginning of one. */
bool graft_shadow_free(void *pointer);
/* Copy to and from the server's side at once, without waiting for the session's other calls. For transports that share no memory. False if the session has no connection for it. The server has the written bytes when graft_shadow_finish has returned; a read comes after the writes before it. */
bool graft_shadow_write(uint64_t address, const void *from, size_t bytes);
bool graft_shadow_read(uint64_t address, void *to, size_t bytes);
/* The same as writing for the marked bytes of whole words (merge.h). */
bool graft_shadow_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words);
void graft_shadow_finish(void);
/* Reads the bytes in pieces, and gives each to a function while the next one is under way. The function returns false to stop. */
bool graft_shadow_read_each(uint64_t address, size_t bytes,
                            bool (*take)(void *context, size_t at, const uint8_t *data, size_t bytes), void *context);

#endif
