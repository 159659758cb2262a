/* usage: answers [--jobs N] [--seconds N] [--known FILE] [--no-wild-handles] [--cases PATTERN] [FUNCTION...]
 *   (patterns; all functions if none is given)
 * Prints "FUNCTION,PARAMETER=LABEL,ANSWER" for each case, and on stderr how many there are of each kind. Each case runs in two orders:
 * "varies" if the two answers differ, "once ANSWER" if there was only time for one, "not run", "not called" if its arguments could not
 * be made. With --seconds, or when it gets a SIGTERM, it prints what it knows by then.
 * --known: earlier output; its cases that crash or hang are not run again, since each costs a process and a context.
 * --cases: only cases of which that is the part behind the parameter: "*destroyed", say.
 * --no-wild-handles: leaves out handles that point nowhere, with which nearly every call crashes natively. */
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "run.h"

#include "answers_table.h" /* needs answers.h */

#define FUNCTIONS ((int)(sizeof functions / sizeof *functions))

static bool is_wanted(const struct function *function, char **patterns) {
  if (is_excluded(function)) return false;
  for (char **p = patterns; *p; p++) {
    if (!fnmatch(*p, function->name, 0)) return true;
  }
  return !*patterns;
}

static void list_all(const char *wanted, char **patterns) {
  int most = 0;
  for (int i = 0; i < FUNCTIONS; i++) most += list_cases(&functions[i], NULL);
  cases = calloc((size_t)most, sizeof *cases);
  units = calloc(FUNCTIONS, sizeof *units);
  for (int i = 0; i < FUNCTIONS; i++) {
    if (!is_wanted(&functions[i], patterns)) continue;
    int count = 0, listed = list_cases(&functions[i], cases + case_count);
    for (int j = 0; j < listed; j++) {
      if (!fnmatch(wanted, cases[case_count + j].label, 0)) cases[case_count + count++] = cases[case_count + j];
    }
    if (!count) continue;
    units[unit_count++] = (struct unit){case_count, count};
    case_count += count;
  }
}

static void name_of(const struct answer_case *one, char *to, size_t bytes) {
  const char *parameter = one->parameter < 0 ? "" : one->function->parameters[one->parameter].name;
  snprintf(to, bytes, "%s,%s%s%s", one->function->name, parameter, *parameter ? "=" : "", one->label);
}

/* Takes over what crashes or hangs according to the file. */
static void read_known(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(2);
  }
  char line[256], name[192];
  while (fgets(line, sizeof line, file)) {
    char *answer = strrchr(line, ',');
    if (!answer) continue;
    *answer++ = 0;
    answer[strcspn(answer, "\n")] = 0;
    if (strcmp(answer, "crash") && strcmp(answer, "hang")) continue;
    for (int i = 0; i < case_count; i++) {
      name_of(&cases[i], name, sizeof name);
      if (strcmp(name, line)) continue;
      plan_note(i, FORWARD, answer);
      outcomes[i].fatal = true;
    }
  }
  fclose(file);
}

static void *shared(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(2);
  return memory;
}

enum certainty { TWICE, FATAL, ONCE, VARIES, NOT_RUN, CERTAINTIES };

static enum certainty result_of(int at, const char **answer) {
  const struct outcome *o = &outcomes[at];
  *answer = *o->answer[0] ? o->answer[0] : o->answer[1];
  if (!**answer) return NOT_RUN;
  if (*o->answer[0] && *o->answer[1]) return strcmp(o->answer[0], o->answer[1]) ? VARIES : TWICE;
  return o->fatal || cases[at].state == UNINITIALIZED ? FATAL : ONCE;
}

static void print(void) {
  int counts[CERTAINTIES] = {0};
  char name[192];
  for (int i = 0; i < case_count; i++) {
    const char *answer;
    enum certainty certainty = result_of(i, &answer);
    counts[certainty]++;
    name_of(&cases[i], name, sizeof name);
    if (certainty == VARIES) fprintf(stderr, "%s: %s, then %s\n", name, outcomes[i].answer[0], outcomes[i].answer[1]);
    printf("%s,%s%s\n", name, certainty == ONCE ? "once " : "",
           certainty == NOT_RUN  ? "not run"
           : certainty == VARIES ? "varies"
                                 : answer);
  }
  fprintf(stderr,
          "%d cases: %d answered twice the same, %d before cuInit or with an unusable process behind them, %d answered once, "
          "%d varying, %d not run; %d contexts\n",
          case_count, counts[TWICE], counts[FATAL], counts[ONCE], counts[VARIES], counts[NOT_RUN], atomic_load(&plan->contexts));
}

bool has_wild_handles = true;

int main(int argc, char **argv) {
  static const struct option options[] = {{"jobs", required_argument, NULL, 'j'},  {"seconds", required_argument, NULL, 's'},
                                          {"known", required_argument, NULL, 'k'}, {"no-wild-handles", no_argument, NULL, 'w'},
                                          {"cases", required_argument, NULL, 'c'}, {0}};
  int option, jobs = 4, seconds = 3600;
  const char *known = NULL, *wanted = "*";
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
      case 'j': jobs = atoi(optarg); break;
      case 's': seconds = atoi(optarg); break;
      case 'k': known = optarg; break;
      case 'w': has_wild_handles = false; break;
      case 'c': wanted = optarg; break;
      default:
        fprintf(stderr,
                "usage: answers [--jobs N] [--seconds N] [--known FILE] [--no-wild-handles] [--cases PATTERN] [FUNCTION...]\n");
        return 2;
    }
  }
  list_all(wanted, argv + optind);
  outcomes = shared((size_t)case_count * sizeof *outcomes + 1);
  plan = shared(sizeof *plan);
  if (known) read_known(known);
  processes_run(jobs, time(NULL) + seconds);
  print();
  return 0;
}
