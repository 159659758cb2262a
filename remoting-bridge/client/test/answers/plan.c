/* The order of the cases. */
#include <stdio.h>
#include <string.h>

#include "run.h"

struct answer_case *cases;
struct unit *units;
int case_count, unit_count;
struct outcome *outcomes;
struct plan *plan;

/* Handles and structures that are none: the driver follows the pointers in them. */
static bool is_risky(const struct answer_case *one) {
  return one->how == OTHER_KIND || one->how == MEMORY_HANDLE || one->how == ONES_BLOCK ||
         (one->how == VALUE && one->value == 0x1234);
}

static bool is_backward(int pass) { return pass == BACKWARD || pass == RISKY_BACKWARD || pass == GONE_BACKWARD; }

bool plan_is_due(int at, int pass) {
  const struct answer_case *one = &cases[at];
  if (outcomes[at].fatal) return false;
  if (pass == BEFORE_INIT || one->state == UNINITIALIZED) return pass == BEFORE_INIT && one->state == UNINITIALIZED;
  int forward = is_backward(pass) ? pass - 1 : pass;
  return forward == (one->how == DESTROYED ? GONE_FORWARD : is_risky(one) ? RISKY_FORWARD : FORWARD);
}

bool plan_take(struct slot *slot, bool before) {
  for (; slot->pass < (before ? FORWARD : PASSES); slot->pass++) {
    int unit = atomic_fetch_add(&plan->next[slot->pass], 1);
    if (unit >= unit_count) continue;
    slot->unit = is_backward(slot->pass) ? unit_count - 1 - unit : unit;
    slot->done = 0;
    return true;
  }
  return false;
}

int plan_case(const struct slot *slot) {
  const struct unit *unit = &units[slot->unit];
  return is_backward(slot->pass) ? unit->first + unit->count - 1 - slot->done : unit->first + slot->done;
}

void plan_note(int at, int pass, const char *answer) {
  char *to = outcomes[at].answer[is_backward(pass)];
  snprintf(to, sizeof outcomes[at].answer[0], "%s", answer);
}
