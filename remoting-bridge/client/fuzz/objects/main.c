/* Random lives of contexts and of what they own: streams, events, memory, modules and graphs are made, used and destroyed, in any order and with work under way,
 * and whole contexts are destroyed with all of it.
 *
 *   objects [--seed N] [--seeds N] [--steps N | --seconds N] [--threads N] [--gone] [--trace]
 *
 * Each seed has --steps steps (300) in each thread; --seconds begins no other seed later. Each thread has contexts of its own, the first one with the primary context, since work
 * in a legacy stream disturbs captures in its context. With --gone handles of what is gone are used, too, also those of a context's objects after the context: any answer is right,
 * but the process, the session and all other objects have to live on. That is for one thread, since what is gone may have the handle of another thread's, and for Graft: NVIDIA's driver may crash.
 *
 * Runs on any CUDA driver, found as libcuda.so.1 (dlopen). All work on a piece of memory is in one stream, so that each byte's value is known. Prints a line for each
 * seed with a sum of all results, which is the same on every driver for one thread and without --gone, and "objects: N passed, N failed" at the end; each check of
 * memory and each call that has to succeed is a test. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/common.h"
#include "objects.h"

FUNCTIONS(DEFINE)

enum { NOT_READY = 600 };

bool with_gone, trace;
static long passed, failed;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

uint64_t draw(struct thread *t) {
  t->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = t->state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
int below(struct thread *t, int n) { return (int)(draw(t) % (unsigned)n); }

void count(bool is_right) {
  pthread_mutex_lock(&counting);
  *(is_right ? &passed : &failed) += 1;
  pthread_mutex_unlock(&counting);
}

int noted(struct thread *t, const char *call, int result) {
  if (result == NOT_READY) result = 0; /* whether work is over already is chance */
  t->sum = (t->sum ^ (unsigned)result) * UINT64_C(1099511628211) + (unsigned char)call[4];
  if (trace) printf("%llu.%d.%d: %s: %d\n", (unsigned long long)t->seed, t->index, t->step, call, result);
  return result;
}

int must(struct thread *t, const char *call, int result) {
  result = noted(t, call, result);
  count(!result);
  if (result) {
    t->has_failed = true;
    printf("seed %llu, step %d: %s: %d\n", (unsigned long long)t->seed, t->step, call, result);
  }
  return result;
}
static void step(struct thread *t) {
  struct context *c;
  do c = &t->contexts[below(t, CONTEXTS)];
  while (!c->handle);
  int stream = below(t, STREAMS);
  switch (below(t, with_gone ? 22 : 20)) {
    case 0: change_context(t); break;
    case 1:
    case 2: change_stream(t, c); break;
    case 3:
    case 4:
    case 5: change_event(t, c); break;
    case 6:
    case 7: change_piece(t, c); break;
    case 8:
    case 9: change_graph(t, c); break;
    case 10: change_module(t, c); break;
    case 11: change_pinned(t, c); break;
    case 12:
    case 13: check(t, c); break;
    case 14:
      if (!c->has_stream[stream]) break;
      enter(t, c);
      MUST(cuLaunchHostFunc(c->streams[stream], on_host, below(t, 2) ? t : NULL));
      break;
    case 15:
      if (!c->has_stream[stream]) break;
      enter(t, c);
      NOTE(cuStreamQuery(c->streams[stream]));
      break;
    case 20:
    case 21: use_gone(t); break;
    default: work(t, c); break;
  }
}

static int steps = 300;

static void *run(void *data) {
  struct thread *t = data;
  t->bytes = malloc(MOST_BYTES);
  t->given = malloc(MOST_BYTES);
  if (!t->bytes || !t->given) abort();
  begin_context(t, &t->contexts[0], t->primary != NULL);
  enter(t, &t->contexts[0]);
  for (t->step = 0; t->step < steps && !t->has_failed; t->step++) step(t);
  if (!t->has_failed) end(t);
  free(t->bytes);
  free(t->given);
  return NULL;
}

static void start_cuda(void) {
  void *library = open_driver();
  FUNCTIONS(FIND)
}

int main(int argc, char **argv) {
  enum { MOST_THREADS = 16 };
  static struct thread threads[MOST_THREADS];
  uint64_t seed = (uint64_t)time(NULL) * 1000003u ^ (uint64_t)clock();
  unsigned long seeds = 1;
  int wanted = 1;
  time_t until = 0;
  handle primary;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--gone"))
      with_gone = true;
    else if (!strcmp(argv[i], "--trace"))
      trace = true;
    else if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 0), i++;
    else if (!strcmp(argv[i], "--seeds"))
      seeds = strtoul(value, NULL, 0), i++;
    else if (!strcmp(argv[i], "--steps"))
      steps = atoi(value), i++;
    else if (!strcmp(argv[i], "--seconds"))
      until = time(NULL) + atoi(value), seeds = -1ul, i++;
    else if (!strcmp(argv[i], "--threads"))
      wanted = atoi(value), i++;
    else {
      fprintf(stderr, "objects: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (wanted < 1 || wanted > MOST_THREADS || (with_gone && wanted > 1)) {
    fprintf(stderr, "objects: wrong number of threads\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  start_cuda();
  int r = cuInit(0);
  if (!r) r = cuDevicePrimaryCtxRetain(&primary, 0);
  if (r) {
    fprintf(stderr, "objects: no device: %d\n", r);
    return 2;
  }
  for (; seeds && (!until || time(NULL) < until) && !failed; seeds--, seed++) {
    pthread_t others[MOST_THREADS];
    uint64_t sum = 0;
    for (int i = 0; i < wanted; i++) {
      threads[i] = (struct thread){.state = seed * 31 + (unsigned)i, .seed = seed, .index = i, .primary = i ? NULL : primary};
      if (i && pthread_create(&others[i], NULL, run, &threads[i])) abort();
    }
    run(&threads[0]);
    for (int i = 1; i < wanted; i++) pthread_join(others[i], NULL);
    for (int i = 0; i < wanted; i++) sum ^= threads[i].sum;
    printf("seed %llu: %016llx\n", (unsigned long long)seed, (unsigned long long)sum);
  }
  printf("objects: %ld passed, %ld failed\n", passed, failed);
  return failed != 0;
}
