/* Work on memory, and what it does to the bytes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/common.h"
#include "objects.h"

static const char *const code = ".version 7.5\n.target sm_75\n.address_size 64\n" ADD_KERNEL;

void load(struct thread *t, struct context *c) {
  if (c->module) return;
  if (!MUST(cuModuleLoadData(&c->module, code))) MUST(cuModuleGetFunction(&c->kernel, c->module, "add"));
}

void on_host(void *data) {
  if (data) usleep(200);
}

void apply(struct context *c, const struct effect *e) {
  struct piece *p = &c->pieces[e->piece];
  switch (e->what) {
    case FILL:
    case HOST_COPY: p->value = e->value; break;
    case COPY: p->value = c->pieces[e->from].value; break;
    case ADD: p->value = (unsigned char)(p->value + e->value); break;
  }
}

/* Queues work on a piece, of which there has to be one in that stream. False if there is none. */
static bool queue(struct thread *t, struct context *c, int stream, struct effect *e) {
  int first = below(t, PIECES), found = -1, other = -1;
  for (int i = 0; i < PIECES; i++) {
    int k = (first + i) % PIECES;
    if (!c->pieces[k].at || c->pieces[k].stream != stream) continue;
    if (found < 0)
      found = k;
    else
      other = k;
  }
  if (found < 0) return false;
  struct piece *p = &c->pieces[found];
  *e = (struct effect){.what = (enum what)below(t, 4), .piece = found, .from = -1, .value = (unsigned char)draw(t)};
  if (e->what == COPY && (other < 0 || c->pieces[other].bytes < p->bytes)) e->what = FILL;
  handle s = c->streams[stream];
  switch (e->what) {
    case FILL: MUST(cuMemsetD8Async(p->at, e->value, p->bytes, s)); break;
    case COPY:
      e->from = other;
      MUST(cuMemcpyDtoDAsync_v2(p->at, c->pieces[other].at, p->bytes, s));
      break;
    case ADD: {
      uint64_t bytes = p->bytes;
      unsigned value = e->value;
      void *parameters[] = {&p->at, &bytes, &value};
      MUST(cuLaunchKernel(c->kernel, 8, 1, 1, 128, 1, 1, 0, s, parameters, NULL));
      break;
    }
    case HOST_COPY:
      memset(t->given, e->value, p->bytes);
      MUST(cuMemcpyHtoDAsync_v2(p->at, t->given, p->bytes, s));
      /* The driver may read pageable memory later than the call. */
      MUST(cuStreamSynchronize(s));
      break;
  }
  return true;
}

void work(struct thread *t, struct context *c) {
  struct effect e;
  int stream = below(t, STREAMS);
  if (!c->has_stream[stream]) return;
  enter(t, c);
  load(t, c);
  if (queue(t, c, stream, &e)) apply(c, &e);
}

void check(struct thread *t, struct context *c) {
  struct piece *p = &c->pieces[below(t, PIECES)];
  if (!p->at) return;
  enter(t, c);
  unsigned char *to = t->bytes;
  memset(to, p->value + 1, p->bytes);
  if (c->pinned && below(t, 2)) {
    to = c->pinned;
    MUST(cuMemcpyDtoHAsync_v2(to, p->at, p->bytes, c->streams[p->stream]));
    MUST(cuStreamSynchronize(c->streams[p->stream]));
  } else {
    MUST(cuStreamSynchronize(c->streams[p->stream]));
    MUST(cuMemcpyDtoH_v2(to, p->at, p->bytes));
  }
  size_t wrong = 0;
  for (size_t i = 0; i < p->bytes; i++) wrong += to[i] != p->value;
  count(!wrong);
  if (!wrong) return;
  t->has_failed = true;
  printf("seed %llu, step %d: %zu of %zu bytes are wrong: %d for %d\n", (unsigned long long)t->seed, t->step, wrong, p->bytes,
         to[0], p->value);
}
