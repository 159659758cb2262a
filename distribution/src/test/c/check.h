/* A call that fails ends the program, and says what it was. */
#ifndef GRAFT_TEST_CHECK_H
#define GRAFT_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

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
