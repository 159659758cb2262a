/* How the cases are run: plan.c orders them in passes, processes.c starts the processes, child.c calls the functions in them. */
#ifndef GRAFT_ANSWERS_RUN_H
#define GRAFT_ANSWERS_RUN_H

#include <stdatomic.h>
#include <time.h>

#include "answers.h"

/* Every case runs twice, in two orders and mostly in two processes, because what an earlier case leaves behind must not
 * decide an answer. Cases that often crash run behind all others, and those with destroyed objects behind these. */
enum pass { BEFORE_INIT, FORWARD, BACKWARD, RISKY_FORWARD, RISKY_BACKWARD, GONE_FORWARD, GONE_BACKWARD, PASSES };

/* The cases of one function, which one process runs in a pass. */
struct unit {
  int first, count;
};

struct outcome {
  char answer[2][48]; /* of both orders; empty: not run */
  bool fatal;         /* the process could not be used afterwards: not run again */
};

/* What a process is doing. It outlives the process, and the next one continues. */
struct slot {
  int pass;
  int unit; /* -1: none */
  int done; /* cases of the unit */
  volatile enum { BETWEEN, OPENING, RUNNING, PROBING } state;
  volatile time_t since;
  int child;
};

/* Shared by all processes. */
struct plan {
  atomic_int next[PASSES]; /* units that are taken */
  atomic_int contexts;     /* processes that have opened one */
};

extern struct answer_case *cases;
extern struct unit *units;
extern int case_count, unit_count;
extern struct outcome *outcomes; /* shared, one for each case */
extern struct plan *plan;        /* shared */

/* plan.c */
/* Takes the next unit; false if there is none. Before cuInit there is only the first pass. */
bool plan_take(struct slot *slot, bool before);
/* The case that comes after slot->done cases. */
int plan_case(const struct slot *slot);
/* Whether a case belongs to a pass and is still to be run. */
bool plan_is_due(int at, int pass);
void plan_note(int at, int pass, const char *answer);

/* child.c: runs cases until none is left, or until the process cannot be used any longer; does not return. */
enum { ENDED = 0, NO_DEVICE = 2, UNUSABLE = 3 };
void child_run(struct slot *slot, bool before);

/* processes.c: runs all cases in this number of processes at a time, until the time is over. */
void processes_run(int jobs, time_t deadline);

#endif
