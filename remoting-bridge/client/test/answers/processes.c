/* The processes that run the cases. Each runs many, since a context takes long to make; a new one continues behind a case that
 * crashes, hangs or leaves the process unusable. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define MOST_JOBS 64
/* Many processes that open a context at a time wait for each other. */
static const int limits[] = {[BETWEEN] = 60, [OPENING] = 60, [RUNNING] = 6, [PROBING] = 2};

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

static void start(struct slot *slot, bool before) {
  slot->state = BETWEEN;
  slot->since = time(NULL);
  int child = fork();
  if (child) {
    slot->child = child;
    return;
  }
  signal(SIGTERM, SIG_DFL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  child_run(slot, before);
}

/* Notes what ended a process. */
static void ended(struct slot *slot, int status) {
  int code = WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
  if (code == NO_DEVICE) {
    fprintf(stderr, "answers: no device, or no context on it\n");
    exit(2);
  }
  if (code == ENDED || code == UNUSABLE || slot->unit < 0 || slot->state == PROBING || slot->state == OPENING) return;
  int at = plan_case(slot);
  /* A case whose arguments could not be made says nothing about the call. */
  bool called = slot->state == RUNNING;
  plan_note(at, slot->pass, !called ? "not called" : code >= 0 ? "exit" : WTERMSIG(status) == SIGKILL ? "hang" : "crash");
  outcomes[at].fatal = true;
  slot->done++;
}

static void watch(struct slot *slots, int jobs) {
  for (int i = 0; i < jobs; i++) {
    if (slots[i].child > 0 && time(NULL) - slots[i].since > limits[slots[i].state]) kill(slots[i].child, SIGKILL);
  }
}

static struct slot *slot_of(struct slot *slots, int jobs, int child) {
  for (int i = 0; i < jobs; i++) {
    if (slots[i].child == child) return &slots[i];
  }
  return NULL;
}

static void run(struct slot *slots, int jobs, bool before, time_t deadline) {
  int running = jobs;
  for (int i = 0; i < jobs; i++) start(&slots[i], before);
  while (!stopped && time(NULL) < deadline && running) {
    int status, child = waitpid(-1, &status, WNOHANG);
    if (child <= 0) {
      watch(slots, jobs);
      usleep(2000);
      continue;
    }
    struct slot *slot = slot_of(slots, jobs, child);
    if (!slot) continue;
    slot->child = 0;
    ended(slot, status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == ENDED) {
      running--;
    } else {
      start(slot, before);
    }
  }
  for (int i = 0; i < jobs; i++) {
    if (slots[i].child <= 0) continue;
    kill(slots[i].child, SIGKILL);
    waitpid(slots[i].child, NULL, 0);
  }
}

void processes_run(int jobs, time_t deadline) {
  if (jobs < 1) jobs = 1;
  if (jobs > MOST_JOBS) jobs = MOST_JOBS;
  struct slot *slots = mmap(NULL, MOST_JOBS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (slots == MAP_FAILED) return;
  signal(SIGTERM, stop);
  for (int i = 0; i < jobs; i++) slots[i] = (struct slot){.pass = BEFORE_INIT, .unit = -1};
  run(slots, jobs, true, deadline);
  for (int i = 0; i < jobs; i++) slots[i] = (struct slot){.pass = FORWARD, .unit = -1};
  run(slots, jobs, false, deadline);
}
