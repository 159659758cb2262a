/* Waits for a stream that tell the program nothing. A program often copies pageable memory to the device and waits for the stream:
 * PyTorch does so for each parameter of a model. The client has the bytes when the copy returns. If the program has waited before, and
 * sent only such copies since, nothing that it can look at depends on them: the server waits before its next call, and the program
 * does not. */
#ifndef GRAFT_SETTLE_H
#define GRAFT_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_place;
struct graft_session;

/* What waits have to know of a session's calls; atomic. */
struct graft_settling {
  uint64_t calls;        /* the number of calls that a wait may have something to tell of */
  bool memory_is_shared; /* with other processes, which the program may tell of a copy when it has waited */
};

/* What a stream's waits have covered, as numbers of the session's calls; atomic. */
struct graft_settled {
  uint64_t copied; /* at the last copy of the program's bytes to device memory */
  uint64_t waited; /* the copy that the program has waited for */
};

/* The number of the session's calls now; a copy takes it before it is sent. */
uint64_t graft_settle_calls(void *stream);
/* Takes note that bytes of the program were sent to a place, in a stream. */
void graft_settle_copied(const struct graft_place *to, size_t bytes, void *stream, uint64_t calls);
/* Takes note of a call to the server. The caller holds the lock under which the session's calls are sent, and sends this one next. */
void graft_settle_call(struct graft_session *session, int function);

#endif
