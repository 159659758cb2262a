/* Where the time goes (GRAFT_PROFILE). */
#ifndef GRAFT_PROFILE_H
#define GRAFT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool graft_profiling;
/* Starts profiling if GRAFT_PROFILE names a file. */
void graft_profile_enable(void);
/* Counts a call that is made, and one that has waited. */
void graft_profile_call(int function);
void graft_profile_waited(int function);
/* Called before and after a copy between host and device; the second function waits for the copy. */
uint64_t graft_profile_transfer_begin(void);
void graft_profile_transfer_end(uint64_t start, bool to_device, const void *host, size_t bytes);

#endif
