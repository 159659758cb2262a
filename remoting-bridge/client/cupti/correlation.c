/* The program's own numbers (cuptiActivityPushExternalCorrelationId), of which each thread has a stack of each kind. */
#include <pthread.h>
#include <stdlib.h>

#include "cupti.h"

enum { FIRST_KIND = 1, EXTERNAL_KINDS = 6 }; /* CUpti_ExternalCorrelationKind */

struct stack {
  uint64_t *ids;
  size_t depth, room;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void free_stacks(void *of_thread) {
  struct stack *stacks = of_thread;
  for (int i = 0; i < EXTERNAL_KINDS; i++) free(stacks[i].ids);
  free(stacks);
}

static void make_key(void) { pthread_key_create(&key, free_stacks); }

/* The calling thread's stacks; NULL without memory. */
static struct stack *stacks(bool is_made) {
  pthread_once(&once, make_key);
  struct stack *mine = pthread_getspecific(key);
  if (mine || !is_made) return mine;
  mine = calloc(EXTERNAL_KINDS, sizeof *mine);
  if (mine && pthread_setspecific(key, mine)) {
    free(mine);
    return NULL;
  }
  return mine;
}

EXPORT int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  if (kind < FIRST_KIND || kind >= EXTERNAL_KINDS) return INVALID_PARAMETER;
  struct stack *mine = stacks(true);
  if (!mine) return OUT_OF_MEMORY;
  struct stack *stack = &mine[kind];
  if (stack->depth == stack->room) {
    size_t room = stack->room ? stack->room * 2 : 64;
    uint64_t *ids = reallocarray(stack->ids, room, sizeof *ids);
    if (!ids) return OUT_OF_MEMORY;
    stack->ids = ids;
    stack->room = room;
  }
  stack->ids[stack->depth++] = id;
  return SUCCESS;
}

EXPORT int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last) {
  if (kind < FIRST_KIND || kind >= EXTERNAL_KINDS) return INVALID_PARAMETER;
  struct stack *mine = stacks(false);
  if (!mine || !mine[kind].depth) return QUEUE_EMPTY;
  uint64_t id = mine[kind].ids[--mine[kind].depth];
  if (last) *last = id;
  return SUCCESS;
}

void append_external(uint32_t correlation) {
  struct stack *mine = stacks(false);
  for (uint32_t kind = FIRST_KIND; mine && kind < EXTERNAL_KINDS; kind++) {
    if (!mine[kind].depth) continue;
    struct external_record record = {.kind = KIND_EXTERNAL_CORRELATION,
                                     .external_kind = kind,
                                     .external = mine[kind].ids[mine[kind].depth - 1],
                                     .correlation = correlation};
    append(&record, sizeof record);
  }
}
