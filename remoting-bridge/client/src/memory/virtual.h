/* Handles of physical memory, which are numbers of their server. In a program with several servers their upper byte says whose. */
#ifndef GRAFT_VIRTUAL_H
#define GRAFT_VIRTUAL_H

#include <stddef.h>
#include <stdint.h>

struct graft_session;

/* Marks a handle that a session's server has returned. */
void graft_physical_mark(const struct graft_session *session, uint64_t *handle);
/* Makes the session of a handle the calling thread's, and the handle the server's number. INVALID_VALUE if there is no such session; else graft_physical_leave follows. */
int graft_physical_enter(uint64_t *handle, struct graft_session **before);
void graft_physical_leave(struct graft_session *before);

/* An address, as aligned as the given one, behind which there are so many bytes without memory: work on it fails as on any wrong address. 0 if there is none. */
uint64_t graft_nowhere(uint64_t like, size_t bytes);

#endif
