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

int find_piece(struct thread *t, const struct context *c, int stream, int *other) {
  int first = below(t, PIECES), found = -1;
  *other = -1;
  for (int i = 0; i < PIECES; i++) {
    int k = (first + i) % PIECES;
    if (!c->pieces[k].at || c->pieces[k].stream != stream) continue;
    if (found < 0)
      found = k;
    else
      *other = k;
  }
  return found;
}

void queue(struct thread *t, const struct context *c, handle stream, const struct effect *e) {
  const struct piece *p = &c->pieces[e->piece];
  switch (e->what) {
    case FILL: MUST(cuMemsetD8Async(p->at, e->value, p->bytes, stream)); break;
    case COPY: MUST(cuMemcpyDtoDAsync_v2(p->at, c->pieces[e->from].at, p->bytes, stream)); break;
    case ADD: {
      uint64_t at = p->at, bytes = p->bytes;
      unsigned value = e->value;
      void *parameters[] = {&at, &bytes, &value};
      MUST(cuLaunchKernel(c->kernel, 8, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
      break;
    }
    case HOST_COPY:
      memset(t->given, e->value, p->bytes);
      MUST(cuMemcpyHtoDAsync_v2(p->at, t->given, p->bytes, stream));
      /* The driver may read pageable memory later than the call. */
      MUST(cuStreamSynchronize(stream));
      break;
  }
}

void work(struct thread *t, struct context *c) {
  int stream = below(t, STREAMS), other;
  if (!c->has_stream[stream]) return;
  enter(t, c);
  load(t, c);
  int found = find_piece(t, c, stream, &other);
  if (found < 0) return;
  struct effect e = {.what = (enum what)below(t, 4), .piece = found, .from = -1, .value = (unsigned char)draw(t)};
  if (e.what == COPY && (other < 0 || c->pieces[other].bytes < c->pieces[found].bytes)) e.what = FILL;
  if (e.what == COPY) e.from = other;
  queue(t, c, c->streams[stream], &e);
  apply(c, &e);
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
