/* Copies between ordinary memory of the program and the device, through staging buffers in the shared region. */
#ifndef GRAFT_STAGING_H
#define GRAFT_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if there is a region to stage in. */
bool graft_staging_ready(void);
/* Returns when the source has been read; the copy itself keeps its place in the stream. */
int graft_stage_to_device(uint64_t to, const void *from, size_t bytes, void *stream);
/* Returns when the data is there. */
int graft_stage_from_device(void *to, uint64_t from, size_t bytes, void *stream);
/* memcpy on several cores for large blocks. */
void graft_copy(void *to, const void *from, size_t bytes);

#endif
