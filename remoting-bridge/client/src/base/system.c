#include "base/system.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint64_t graft_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool graft_is_mapped(const void *pointer, size_t bytes) {
  enum { PAGE = 4096, PAGES = 4096 };
  unsigned char resident[PAGES];
  uintptr_t at = (uintptr_t)pointer / PAGE * PAGE, end = (uintptr_t)pointer + bytes;
  bool mapped = end >= (uintptr_t)pointer;
  for (; mapped && at < end; at += (uintptr_t)PAGES * PAGE) {
    size_t take = end - at < (uintptr_t)PAGES * PAGE ? end - at : (size_t)PAGES * PAGE;
    mapped = !mincore((void *)at, take, resident);
  }
  return mapped;
}

void graft_say(const char *format, ...) {
  char line[640];
  va_list arguments;
  va_start(arguments, format);
  int n = snprintf(line, sizeof line, "graft: ");
  n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments);
  va_end(arguments);
  if (n > (int)sizeof line - 2) n = (int)sizeof line - 2;
  line[n++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)n) < 0) return; /* there is no other place for the message */
}

#define MOST_THREADS 64
static pid_t threads[MOST_THREADS];
static int thread_count;

void graft_note_thread(pid_t *who) {
  static _Thread_local pid_t self;
  if (!self) self = gettid();
  __atomic_store_n(who, self, __ATOMIC_RELEASE);
}

struct start {
  void *(*run)(void *);
  void *argument;
};

static void *run_thread(void *start) {
  struct start of = *(struct start *)start;
  free(start);
  int index = __atomic_fetch_add(&thread_count, 1, __ATOMIC_ACQ_REL);
  if (index < MOST_THREADS) graft_note_thread(&threads[index]);
  return of.run(of.argument);
}

bool graft_is_own_thread(pid_t thread) {
  bool own = false;
  for (int i = 0; i < MOST_THREADS && !own; i++) own = __atomic_load_n(&threads[i], __ATOMIC_ACQUIRE) == thread;
  return own;
}

bool graft_start_thread(void *(*run)(void *), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (!start) return false;
  *start = (struct start){run, argument};
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all); /* the program's signals are handled by the program's threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  /* The stack has the system's default size, since it also holds the thread-local memory of the program's libraries, some of which have much. */
  int error = pthread_create(&thread, &attributes, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error) free(start);
  errno = error;
  return !error;
}
