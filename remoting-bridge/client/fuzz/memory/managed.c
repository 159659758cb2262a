/* Hints on managed memory, and the stream to which it is attached. */
#include <string.h>

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

/* The program writes to memory that is attached to an idle stream while other streams work, and at once has a kernel use it. */
static void write_and_launch(struct thread *t, struct buffer *b) {
  size_t n = a_length(t, b->bytes < BLOCK ? b->bytes : BLOCK), at = below(t, b->bytes - n + 1);
  uint64_t bytes = n;
  unsigned value = (unsigned)below(t, 256);
  ptr p = b->device + at;
  void *parameters[] = {&p, &bytes, &value};
  struct effect e = {.what = ADD, .to = b, .at = at, .bytes = n, .value = value};
  say(t, "the program writes %zu bytes of attached memory at %zu for a kernel, stream %d", n, at, b->attached);
  memset(b->host + at, (int)value + 1, n);
  memset(b->model + at, (int)value + 1, n);
  use(t, b, b->attached, at, at + n);
  CHECK(cuLaunchKernel(kernel_add, 2, 1, 1, 64, 1, 1, 0, t->streams[b->attached], parameters, NULL));
  apply(&e);
}

void hint(struct thread *t) {
  for (int i = 0; i < t->count; i++) {
    struct buffer *b = &t->buffers[i];
    if (b->kind != MANAGED) continue;
    if (concurrent_managed && below(t, 2)) advise(t, b);
    if (!below(t, 3)) attach(t, b);
    if (b->attached >= 0 && b->owner < 0 && may_touch(t, b)) write_and_launch(t, b);
  }
}
