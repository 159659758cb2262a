/* Calls the functions. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run.h"

#define CRASHED (-2)

static sigjmp_buf crashed;
static volatile sig_atomic_t calling;

/* A crash in the call itself is an answer, and the process may still be usable. Any other ends it. */
static void crash(int number) {
  if (calling && syscall(SYS_gettid) == getpid()) siglongjmp(crashed, 1);
  signal(number, SIG_DFL);
}

static void catch_crashes(void) {
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_handler = crash, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

static int call(const struct answer_case *one, const struct arguments *a) {
  void *symbol = world_symbol(one->function->name);
  if (!symbol) return -1;
  const uint64_t *v = a->value;
  struct token {
    uint8_t bytes[64];
  } token = {{0}};
  for (int i = 0; i < one->function->count; i++) {
    if (one->function->parameters[i].kind != STRUCTURE) continue;
    int (*by_value)(uint64_t, struct token, uint64_t);
    memcpy(&by_value, &symbol, sizeof symbol);
    return by_value(v[0], token, v[2]);
  }
  /* Integers and floats have registers of their own in the ABI of x86-64, whatever their order. */
  float f[2] = {0};
  uint64_t w[MAX_PARAMETERS] = {0};
  for (int i = 0, floats = 0, words = 0; i < one->function->count; i++) {
    if (one->function->parameters[i].kind == FLOAT) {
      f[floats++] = a->floats[i];
    } else {
      w[words++] = v[i];
    }
  }
  int (*function)(float, float, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                  uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  memcpy(&function, &symbol, sizeof symbol);
  return function(f[0], f[1], w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15],
                  w[16], w[17]);
}

static int call_caught(const struct answer_case *one, const struct arguments *a) {
  if (sigsetjmp(crashed, 1)) {
    calling = 0;
    return CRASHED;
  }
  calling = 1;
  int result = call(one, a);
  calling = 0;
  return result;
}

static const char *error_name(int result, char *text, size_t bytes) {
  const char *name = NULL;
  int (*names)(int, const char **);
  void *symbol = world_symbol("cuGetErrorName");
  memcpy(&names, &symbol, sizeof symbol);
  if (result == -1) {
    snprintf(text, bytes, "missing");
  } else if (names(result, &name) || !name) {
    snprintf(text, bytes, "%d", result);
  } else {
    snprintf(text, bytes, "%s", strncmp(name, "CUDA_ERROR_", 11) ? name : name + 11);
  }
  return text;
}

static void describe(int at, int pass, int result, const struct arguments *a) {
  const struct answer_case *one = &cases[at];
  char text[48];
  error_name(result, text, sizeof text);
  for (int i = 0; i < one->function->count; i++) {
    uint64_t count;
    if (!is_observed(one->function, &one->function->parameters[i]) || !a->value[i]) continue;
    memcpy(&count, a->buffer[i], 8);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %lld", (long long)count);
  }
  plan_note(at, pass, text);
}

/* What a call without an error has caused is an answer too. */
static void describe_later(int at, int pass, int later) {
  char name[40], text[48];
  snprintf(text, sizeof text, "later %s", error_name(later, name, sizeof name));
  plan_note(at, pass, text);
}

/* Cases before cuInit: handles cannot exist, so that all are NULL. */
static void uninitialized(struct answer_case *one, struct arguments *a) {
  for (int i = 0; i < one->function->count; i++) {
    switch (one->function->parameters[i].kind) {
      case HANDLES:
      case BLOCK:
      case RESULT:
      case POINTER:
        memset(a->buffer[i], 0, BUFFER_BYTES);
        a->value[i] = (uint64_t)a->buffer[i];
        break;
      case TEXT: a->value[i] = (uint64_t) "k"; break;
      default: a->value[i] = 0;
    }
  }
}

/* Ends objects, or leaves them with attributes that other calls go by: a function that may have no dynamic shared memory, say. */
static bool may_spoil_objects(const char *name) {
  static const char *const verbs[] = {"Free",       "Destroy", "Unload", "Release", "Unmap",
                                      "Unregister", "Reset",   "Detach", "Close",   "SetAttribute"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    if (strstr(name, verbs[i])) return true;
  }
  return false;
}

/* Runs a case; false if the process cannot be used any longer. */
static bool execute(int at, struct arguments *a, struct slot *slot) {
  struct answer_case *one = &cases[at];
  slot->since = time(NULL);
  if (one->state == UNINITIALIZED) {
    uninitialized(one, a);
  } else {
    world_right(one->function, a);
    if (!spoil(one, a)) {
      int unused;
      plan_note(at, slot->pass, "not called");
      outcomes[at].fatal = true;
      slot->done++;
      return world_leave(one->state, &unused);
    }
    world_enter(one->state);
  }
  slot->since = time(NULL);
  slot->state = RUNNING;
  int result = call_caught(one, a);
  if (result == CRASHED) {
    plan_note(at, slot->pass, "crash");
    outcomes[at].fatal = true;
  } else {
    describe(at, slot->pass, result, a);
  }
  slot->state = PROBING;
  slot->since = time(NULL);
  slot->done++;
  /* Risky cases are run last, so that what a crash has left can spoil no others. */
  if (result == CRASHED && slot->pass != RISKY_FORWARD && slot->pass != RISKY_BACKWARD) return false;
  if (one->state == UNINITIALIZED) return strcmp(one->function->name, "cuInit") != 0;
  if (may_spoil_objects(one->function->name) || result == CRASHED) world_forget();
  if (!strncmp(one->function->name, "cuMemHostRegister", 17)) world_unregister(a->value[0]);
  int later = 0;
  bool usable = world_leave(one->state, &later) && (result != CRASHED || world_is_usable());
  if (!result && later) describe_later(at, slot->pass, later);
  outcomes[at].fatal |= !usable;
  /* A call that takes an object that is gone may have written where that was. */
  bool may_be_damaged = one->how == DESTROYED && !result && !later;
  return usable && !may_be_damaged;
}

void child_run(struct slot *slot, bool before) {
  struct arguments a = {{0}, {0}, {0}};
  for (int i = 0; i < MAX_PARAMETERS; i++) {
    a.buffer[i] = mmap(NULL, 2 * BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect((char *)a.buffer[i] + BUFFER_BYTES, BUFFER_BYTES, PROT_NONE);
  }
  slot->state = OPENING;
  slot->since = time(NULL);
  if (!before) {
    if (!world_open()) _exit(NO_DEVICE);
    atomic_fetch_add(&plan->contexts, 1);
  }
  catch_crashes();
  for (;;) {
    slot->state = BETWEEN;
    if (slot->unit >= 0 && slot->done == units[slot->unit].count) slot->unit = -1;
    if (slot->unit < 0 && !plan_take(slot, before)) _exit(ENDED);
    int at = plan_case(slot);
    if (!plan_is_due(at, slot->pass)) {
      slot->done++;
    } else if (!execute(at, &a, slot)) {
      _exit(UNUSABLE);
    }
  }
}
