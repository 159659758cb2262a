/* Where the time goes (GRAFT_PROFILE). */
#ifndef GRAFT_PROFILE_H
#define GRAFT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool graft_profiling;
/* Turns it on if GRAFT_PROFILE names a file. */
void graft_profile_enable(void);
/* A call is made; one that waited is over. */
void graft_profile_call(int function);
void graft_profile_waited(int function);
/* Around a copy between host and device; the second waits until it is over. */
uint64_t graft_profile_transfer_begin(void);
void graft_profile_transfer_end(uint64_t start, bool to_device, const void *host, size_t bytes);

#endif
