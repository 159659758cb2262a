/* Hints on managed memory, and the stream to which it is attached. */
#include "model.h"

enum { GLOBAL_ATTACHMENT = 1, HOST_ATTACHMENT = 2, SINGLE_ATTACHMENT = 4 };

/* Advice and prefetching need CONCURRENT_MANAGED_ACCESS ("Unified Memory Programming"). */
static void advise(struct thread *t, struct buffer *b) {
  size_t n = a_length(t, b->bytes), at = below(t, b->bytes - n + 1);
  int stream = (int)below(t, STREAMS), advice = 1 + (int)below(t, 6), place = below(t, 2) ? 0 : -1;
  say(t, "advice %d on %zu bytes of managed at %zu for %d", advice, n, at, place);
  CHECK(cuMemAdvise(b->device + at, n, advice, place));
  if (!may_work(b, stream) || below(t, 2)) return;
  use(t, b, stream, at, at + n);
  say(t, "prefetches %zu bytes of managed at %zu to %d, stream %d", n, at, place, stream);
  CHECK(cuMemPrefetchAsync(b->device + at, n, place, t->streams[stream]));
}

/* An attachment holds when its stream has reached it. Until then no work on the memory may be under way. */
static void attach(struct thread *t, struct buffer *b) {
  int stream = 1 + (int)below(t, STREAMS - 1);
  unsigned to = below(t, 2) ? SINGLE_ATTACHMENT : below(t, 2) ? HOST_ATTACHMENT : GLOBAL_ATTACHMENT;
  use(t, b, -1, 0, 0);
  say(t, "attaches managed memory: %u, stream %d", to, stream);
  CHECK(cuStreamAttachMemAsync(t->streams[stream], b->device, 0, to));
  wait_for(t, stream);
  b->attached = to == SINGLE_ATTACHMENT ? stream : to == HOST_ATTACHMENT ? TO_PROGRAM : TO_ALL;
}

void hint(struct thread *t) {
  for (int i = 0; i < t->count; i++) {
    struct buffer *b = &t->buffers[i];
    if (b->kind != MANAGED) continue;
    if (concurrent_managed && below(t, 2)) advise(t, b);
    if (!below(t, 3)) attach(t, b);
  }
}
