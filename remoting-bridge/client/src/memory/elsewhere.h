/* Calls about memory, streams and events of another server than that of the current context, in a program that uses several servers.
 * Servers do not know each other: what would be a dependency between their streams is a wait of the calling thread. Only called if
 * graft_several_servers is set. */
#ifndef GRAFT_ELSEWHERE_H
#define GRAFT_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;
struct graft_session;

/* A context of a session: the current one, if it belongs to the session; NULL if there is none. */
struct graft_object *graft_context_in(struct graft_session *session);
/* The session of memory that a device has at this address (device and managed memory), NULL if there is none. */
struct graft_session *graft_session_of_memory(uint64_t address);
/* Whether a pointer is one to pinned or registered memory of another session than the calling thread's, for which it is ordinary memory
 * of the program. An address that the other session's device has of it becomes the program's. */
bool graft_host_memory_elsewhere(uint64_t *pointer);
/* Whether a pointer is to memory of another session, which the devices of the calling thread's session cannot access. */
bool graft_is_beyond_reach(uint64_t pointer);
/* Whether device memory overlaps that of another session than the calling thread's; prints it. Servers that keep to their ranges of addresses never cause it. */
bool graft_memory_collides(uint64_t base, uint64_t bytes);

/* A call that is made in a context of another session. */
struct graft_visit {
  void *stream; /* the stream to make the call in */
  bool settles; /* the call is not in the program's stream, and is over when graft_visit_end returns */
};
/* Begins a call with memory of that session (NULL: the stream's) in a stream, if one of the two belongs to another session than the
 * calling thread's: makes a context of the session current, and waits for the stream if it belongs to a third one. False if the call
 * is an ordinary one. If *error is set, the call must not be made. */
bool graft_visit_begin(struct graft_visit *visit, struct graft_session *session, void *stream, int *error);
/* Ends it, and returns the result of the call. */
int graft_visit_end(const struct graft_visit *visit, int result);

/* Whether a stream and an event belong to different sessions. */
bool graft_is_elsewhere(void *stream, void *event);
/* Waits until the event of another session has happened. */
int graft_await_elsewhere(void *stream, void *event);

/* Copies between devices of two sessions, from server to server where they have a link and else through this process, when the stream has reached the copy. Returns when the copy is done. */
int graft_copy_between(struct graft_session *to_session, uint64_t to, struct graft_session *from_session, uint64_t from,
                       size_t bytes, void *stream);

#endif
