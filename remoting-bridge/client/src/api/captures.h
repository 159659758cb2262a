/* Captures of streams, and the calls that an open capture does not allow. */
#ifndef GRAFT_CAPTURES_H
#define GRAFT_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

struct graft_object;

/* The graph of which work queued in a stream becomes nodes, NULL if the stream is not captured. Asks the server only while a capture is open. */
struct graft_object *graft_stream_captures(void *stream);
/* Whether any stream of the process is captured. */
bool graft_captures_are_open(void);
/* Whether none is, nor is a capture about to begin; with the number of those that have begun or are about to. */
bool graft_captures_none(uint64_t *begun);
/* For a call that CUDA calls potentially unsafe: 0, or STREAM_CAPTURE_UNSUPPORTED if a capture is open that does not allow it from this thread, which it
 * makes invalid. The server cannot tell, since it makes the calls of all threads. */
int graft_uncaptured(void);
/* The same for a call with a stream, which is allowed if that stream is captured. */
int graft_uncaptured_but(void *stream);
/* For a call with a stream that CUDA does not capture: 0, or STREAM_CAPTURE_UNSUPPORTED if the stream is captured, which the call makes invalid, or
 * STREAM_CAPTURE_INVALIDATED if its capture is invalid. Asks the server only while a capture is open. */
int graft_not_for_captures(void *stream);
/* Takes note that a stream, or a context with its streams, is destroyed. */
void graft_capture_forget(const void *stream);
void graft_captures_end(const struct graft_object *context);

#endif
