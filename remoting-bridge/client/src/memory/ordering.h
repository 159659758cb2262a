/* What work on mirrored memory is over when a stream reaches what is queued in it now, as far as the order of the stream and its waits for events tell. */
#ifndef GRAFT_ORDERING_H
#define GRAFT_ORDERING_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/pending.h"

struct graft_mirror_list;
struct graft_object;

/* A call that records or awaits an event; others of the session wait until it is sent, so that the client knows their order. */
struct graft_ordering {
  struct graft_mirror_list *list; /* NULL without mirrors */
  struct graft_object *event;
  bool is_known; /* whether no stream was captured before the call, which would make it a node of a graph */
  uint64_t captures, work;
};

/* Before the call, and after it with what the call has answered: graft_ordering_recorded after a record, graft_ordering_awaits after a wait. */
void graft_ordering_begin(struct graft_ordering *ordering, void *event);
void graft_ordering_recorded(struct graft_ordering *ordering, void *stream, int result);
void graft_ordering_awaits(struct graft_ordering *ordering, void *stream, int result);
/* A wait for an event, or a question whether the event is done. */
struct graft_ordering_wait {
  void *event;
  uint64_t record; /* its last one when the wait began; 0 if none is known */
};
void graft_ordering_wait_begin(struct graft_ordering_wait *wait, void *event);
/* What is over because the wait has succeeded. Nothing if the event was recorded again since the wait began, which then may be for either record. */
void graft_ordering_wait_end(const struct graft_ordering_wait *wait, struct graft_behind *over);
/* From now on events may be recorded in another way, as by nodes of graphs: what an event was recorded behind is no longer known. */
void graft_ordering_is_lost(void);
/* What is over when a host function begins that is queued now, or when a wait for the stream ends. Nothing if the stream is captured. */
void graft_ordering_behind(void *stream, struct graft_behind *behind);

#endif
