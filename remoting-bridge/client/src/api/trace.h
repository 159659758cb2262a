/* A timeline of the program (GRAFT_TRACE=FILE): the calls that go to the server, those that wait for it, and the kernels, copies, fills and graphs of
 * the GPU with the times at which they ran there. */
#ifndef GRAFT_TRACE_H
#define GRAFT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;
struct graft_span;

enum graft_trace_work { GRAFT_TRACE_KERNEL, GRAFT_TRACE_COPY, GRAFT_TRACE_FILL, GRAFT_TRACE_GRAPH };

extern bool graft_tracing;
/* Starts the trace if GRAFT_TRACE names a file. */
void graft_trace_enable(void);
/* A call that began at this time of graft_now, and has been sent or, if it waits, answered. */
void graft_trace_call(int function, uint64_t began, bool waits, size_t bytes);

/* Called before and after calls that queue one piece of work in a stream of the current context: an event before and an event behind it tell when it ran. NULL
 * without a trace, and for work that becomes part of a graph. */
struct graft_span *graft_trace_begin(void *stream);
/* The name is copied. The work counts if the result is 0. NULL is allowed. */
void graft_trace_end(struct graft_span *span, enum graft_trace_work work, const char *name, size_t bytes, int result);
/* Nothing was queued. NULL is allowed. */
void graft_trace_drop(struct graft_span *span);
/* The name of a copy, in the words of CUDA's profilers. */
const char *graft_trace_copy_name(bool from_host, bool to_host);
/* Called before a context ends, with which its events end. Waits for its work as the end of a context does. */
void graft_trace_context_ends(struct graft_object *context);

#endif
