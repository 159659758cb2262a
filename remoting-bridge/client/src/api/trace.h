/* A timeline of the program (GRAFT_TRACE=FILE): the calls that go to the server, those that wait for it, and the kernels, copies, fills and graphs of
 * the GPU with the times at which they ran there. */
#ifndef GRAFT_TRACE_H
#define GRAFT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool graft_tracing;
/* Starts the trace if GRAFT_TRACE names a file. */
void graft_trace_enable(void);
/* A call that began at this time of graft_now, and has been sent or, if it waits, answered. */
void graft_trace_call(int function, uint64_t began, bool waits, size_t bytes);

#endif
