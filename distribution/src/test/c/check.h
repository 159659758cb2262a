/* A failed call ends the program with a message that names the call. */
#ifndef GRAFT_TEST_CHECK_H
#define GRAFT_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* More thread-local memory than fits into a small stack: a program with cuSPARSE has 100 KiB and more. */
static _Thread_local char much[1 << 20] __attribute__((used));

int cuGetErrorName(int error, const char **name);

static inline void check(int error, const char *call) {
  const char *name = "?";
  if (!error) return;
  cuGetErrorName(error, &name);
  printf("%s: %s\n", call, name);
  exit(1);
}
#define RUN(call) check(call, #call)

#endif
