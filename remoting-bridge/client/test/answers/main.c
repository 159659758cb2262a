/* usage: answers [FUNCTION...]      (patterns; all functions if none is given)
 * Prints "FUNCTION,PARAMETER=LABEL,ANSWER" for each case. Children execute the cases, a few functions each; the next child
 * continues behind a case that crashes, hangs or leaves the process unusable. A SIGTERM makes it print what it knows by then.
 * ANSWERS_JOBS: the number of children; ANSWERS_NO_WILD_HANDLES: leaves out handles that point nowhere, with which nearly every
 * call crashes natively (each crash costs a process and a context); ANSWERS_VERBOSE: crashes and hangs are printed on stderr at once. */
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answers.h"
#include "answers_table.h"

#define FUNCTIONS ((int)(sizeof functions / sizeof *functions))
#define FUNCTIONS_PER_CHILD 6
#define SECONDS_PER_CASE 10

/* Shared by the parent and a child. */
struct progress {
  volatile int next;    /* the case to begin with */
  volatile int running; /* the case that the child executes, -1 between two */
  volatile time_t since;
};

struct chunk {
  int first, count; /* cases */
  struct progress *progress;
  pid_t child;
};

static struct answer_case *cases;
static char (*answers)[48];
static int case_count;

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

static void note(int at, const char *answer) { snprintf(answers[at], sizeof answers[at], "%s", answer); }

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

static void describe(int at, int result, const struct arguments *a) {
  const struct answer_case *one = &cases[at];
  const char *name = NULL;
  int (*error_name)(int, const char **);
  void *symbol = world_symbol("cuGetErrorName");
  memcpy(&error_name, &symbol, sizeof symbol);
  char text[48];
  if (result == -1) {
    snprintf(text, sizeof text, "missing");
  } else if (error_name(result, &name) || !name) {
    snprintf(text, sizeof text, "%d", result);
  } else {
    snprintf(text, sizeof text, "%s", strncmp(name, "CUDA_ERROR_", 11) ? name : name + 11);
  }
  for (int i = 0; i < one->function->count; i++) {
    uint64_t count;
    if (!is_observed(one->function, &one->function->parameters[i]) || !a->value[i]) continue;
    memcpy(&count, a->buffer[i], 8);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %lld", (long long)count);
  }
  note(at, text);
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

static bool may_end_objects(const char *name) {
  static const char *const verbs[] = {"Free", "Destroy", "Unload", "Release", "Unmap", "Unregister", "Reset", "Detach", "Close"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    if (strstr(name, verbs[i])) return true;
  }
  return false;
}

static bool execute(int at, struct arguments *a, struct progress *progress) {
  struct answer_case *one = &cases[at];
  if (one->state == UNINITIALIZED) {
    uninitialized(one, a);
  } else {
    world_right(one->function, a);
    spoil(one, a);
    world_enter(one->state);
  }
  progress->since = time(NULL);
  progress->running = at;
  int result = call(one, a);
  describe(at, result, a);
  if (one->state == UNINITIALIZED) return true;
  if (may_end_objects(one->function->name)) world_forget();
  return world_leave(one->state);
}

/* Executes the cases from progress->next on that belong before or behind cuInit. */
static void child(const struct chunk *chunk, bool before) {
  struct arguments a = {{0}, {0}, {0}};
  for (int i = 0; i < MAX_PARAMETERS; i++) {
    a.buffer[i] = mmap(NULL, 2 * BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect((char *)a.buffer[i] + BUFFER_BYTES, BUFFER_BYTES, PROT_NONE);
  }
  if (!before && !world_open()) _exit(2);
  for (int at = chunk->progress->next; at < chunk->first + chunk->count; at++) {
    if ((cases[at].state == UNINITIALIZED) != before || *answers[at]) continue;
    chunk->progress->next = at;
    chunk->progress->running = -1;
    bool usable = execute(at, &a, chunk->progress);
    chunk->progress->running = -1;
    chunk->progress->next = at + 1;
    if (!usable) _exit(3);
  }
  _exit(0);
}

static bool is_done(const struct chunk *chunk, bool before) {
  for (int at = chunk->progress->next; at < chunk->first + chunk->count; at++) {
    if ((cases[at].state == UNINITIALIZED) == before && !*answers[at]) return false;
  }
  return true;
}

/* Begins, or begins again, a chunk. */
static void start(struct chunk *chunk, bool before) {
  chunk->progress->running = -1;
  chunk->progress->since = time(NULL);
  chunk->child = fork();
  if (chunk->child) return;
  signal(SIGTERM, SIG_DFL);
  child(chunk, before);
}

static void ended(struct chunk *chunk, int status) {
  int at = chunk->progress->next;
  if (at >= chunk->first + chunk->count) return;
  if (!WIFSIGNALED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3)) return;
  if (!WIFSIGNALED(status) && WEXITSTATUS(status) == 2) {
    fprintf(stderr, "answers: no device, or no context on it\n");
    exit(2);
  }
  if (!*answers[at]) {
    /* A case whose arguments could not be made says nothing about the call. */
    bool called = chunk->progress->running == at;
    note(at, !called ? "not called" : !WIFSIGNALED(status) ? "exit" : WTERMSIG(status) == SIGKILL ? "hang" : "crash");
  }
  if (getenv("ANSWERS_VERBOSE")) {
    const char *parameter = cases[at].parameter < 0 ? "" : cases[at].function->parameters[cases[at].parameter].name;
    fprintf(stderr, "%s %s=%s: %s\n", cases[at].function->name, parameter, cases[at].label, answers[at]);
  }
  chunk->progress->next = at + 1;
}

static void run(struct chunk *chunks, int count, int jobs, bool before) {
  int next = 0, running = 0;
  while (!stopped && (next < count || running)) {
    for (; next < count && running < jobs; next++) {
      chunks[next].progress->next = chunks[next].first;
      if (is_done(&chunks[next], before)) continue;
      start(&chunks[next], before);
      running++;
    }
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    for (int i = 0; i < count; i++) {
      if (pid <= 0 && chunks[i].child > 0 && time(NULL) - chunks[i].progress->since > SECONDS_PER_CASE)
        kill(chunks[i].child, SIGKILL);
      if (pid <= 0 || chunks[i].child != pid) continue;
      chunks[i].child = 0;
      ended(&chunks[i], status);
      if (is_done(&chunks[i], before)) {
        running--;
      } else {
        start(&chunks[i], before);
      }
    }
    if (pid <= 0) usleep(2000);
  }
  for (int i = 0; i < count; i++) {
    if (chunks[i].child > 0) kill(chunks[i].child, SIGKILL);
  }
}

static bool is_wanted(const struct function *function, char **patterns) {
  if (is_excluded(function)) return false;
  for (char **p = patterns; *p; p++) {
    if (!fnmatch(*p, function->name, 0)) return true;
  }
  return !*patterns;
}

int main(int argc, char **argv) {
  static struct chunk chunks[FUNCTIONS];
  int chunk_count = 0, in_chunk = 0, jobs = getenv("ANSWERS_JOBS") ? atoi(getenv("ANSWERS_JOBS")) : 4;
  for (int i = 0; i < FUNCTIONS; i++) case_count += list_cases(&functions[i], NULL);
  cases = calloc((size_t)case_count, sizeof *cases);
  int filled = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    if (!is_wanted(&functions[i], argv + 1)) continue;
    if (!in_chunk) chunks[chunk_count++] = (struct chunk){filled, 0, NULL, 0};
    int added = list_cases(&functions[i], cases + filled);
    filled += added;
    chunks[chunk_count - 1].count += added;
    if (++in_chunk == FUNCTIONS_PER_CHILD) in_chunk = 0;
  }
  case_count = filled;
  size_t bytes = (size_t)case_count * sizeof *answers;
  answers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct progress *progress = mmap(NULL, FUNCTIONS * sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < chunk_count; i++) chunks[i].progress = &progress[i];
  signal(SIGTERM, stop);
  run(chunks, chunk_count, jobs, true);
  run(chunks, chunk_count, jobs, false);
  for (int i = 0; i < case_count; i++) {
    const struct answer_case *one = &cases[i];
    const char *parameter = one->parameter < 0 ? "" : one->function->parameters[one->parameter].name;
    printf("%s,%s%s%s,%s\n", one->function->name, parameter, *parameter ? "=" : "", one->label,
           *answers[i] ? answers[i] : "not run");
  }
  return 0;
}
