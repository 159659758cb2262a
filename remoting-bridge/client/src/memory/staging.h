/* Copies between ordinary memory of the program and the device, through staging buffers in the shared region. */
#ifndef GRAFT_STAGING_H
#define GRAFT_STAGING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_STAGING_CHUNKS 8

/* Each chunk of the staging memory belongs to one copy at a time. The device itself writes a chunk's number of uses to
 * its flag, in stream order behind the copy, so that the server need not be asked whether a chunk is free. */
struct graft_staging {
  pthread_mutex_t lock; /* guards all of it */
  bool tried;
  uint8_t *memory;
  uint8_t *flags;
  uint32_t uses[GRAFT_STAGING_CHUNKS];
  unsigned next;
};

/* True if the calling thread's session has a region to stage in. */
bool graft_staging_ready(void);
/* Returns when the source has been read; the copy itself keeps its place in the stream. */
int graft_stage_to_device(uint64_t to, const void *from, size_t bytes, void *stream);
/* Copies between a mirror's two sides, down from the device or up to it. The caller holds the mirrors' lock, for which a thread that stages may wait: false if the staging memory is in use, or if there is none. */
bool graft_stage_mirror(uint64_t device, uint8_t *host, size_t bytes, bool down, void *stream, int *result);
/* Returns when the data is there. */
int graft_stage_from_device(void *to, uint64_t from, size_t bytes, void *stream);

#endif
