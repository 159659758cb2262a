// The weights of workers' cgroups, which folders stand for here: the workers of a guest share the weight of one.
#include "../starter/workers.c"

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #condition);    \
      exit(EXIT_FAILURE);                                                    \
    }                                                                        \
  } while (0)

enum { WORKERS = 4 };

// Guests without folders. Each has the place of its number.
struct guest {
  unsigned workers;
};
static struct guest guests[WORKERS];

struct guests *open_guests(unsigned most) { return most ? (struct guests *)guests : 0; }
struct guest *join_guest(struct guests *all, uint64_t number, pid_t worker, const char **what) {
  CHECK(all && worker && what);
  guests[number].workers++;
  return &guests[number];
}
void leave_guest(struct guest *guest, pid_t worker) {
  CHECK(worker);
  guest->workers--;
}
void forget_numbers(struct guests *all) { CHECK(all); }

int open_users(const char *file) { return file ? 0 : -1; }
uid_t take_user(int file, const struct config *config, const struct workers *workers) {
  return file && config && workers ? 1 : 0;
}
char *open_pipes(const char *file, uid_t user) { return file && user ? strdup("") : 0; }
void close_pipes(const char *pipes) { CHECK(pipes); }
void give_user(int file, uid_t user) { CHECK(file && user); }
const struct kind *find_kind(const struct config *config, const struct request *request) {
  return config && request ? config->kinds : 0;
}
void add_word(struct words *words, char *word) { words->items[words->count++] = word; }
void die(const char *what, ...) { exit(what ? EXIT_FAILURE : 0); }

static char folder[] = "/tmp/graft-weights-XXXXXX";

// Returns the weight that was written since this was called the last time, 0 for none.
static int weight(int number) {
  char path[64], text[16] = "";
  snprintf(path, sizeof path, "%s/%d/cpu.weight", folder, number);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0 && ftruncate(fd, 0) == 0);
  close(fd);
  return atoi(text);
}

static void make_cgroup(struct worker *worker, int number) {
  char path[64];
  snprintf(path, sizeof path, "%s/%d", folder, number);
  CHECK(mkdir(path, 0700) == 0);
  *worker = (struct worker){.number = (uint32_t)number, .pid = number, .cgroup = strdup(path), .weight = MOST_WEIGHT};
  strcat(path, "/cpu.weight");
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  close(fd);
}

static void give(struct workers *workers, uint32_t worker, uint64_t guest) {
  struct request share = {.worker = worker, .guest = guest};
  char reason[128];
  CHECK(share_worker(workers, &share, reason, sizeof reason));
}

int main(void) {
  CHECK(mkdtemp(folder));
  struct config config = {.workers = WORKERS, .memory = 1 << 30, .threads = 4096};
  strcpy(config.isolation, "guest-folder ok\n");
  struct workers *workers = make_workers(&config, folder, 0);
  for (int i = 0; i < WORKERS; i++) make_cgroup(&workers->all[i], i + 1);

  give(workers, 1, 1);
  CHECK(weight(1) == 100 && weight(2) == 0);
  give(workers, 2, 1);
  give(workers, 3, 2);
  CHECK(weight(1) == 50 && weight(2) == 50 && weight(3) == 100);
  CHECK(weight(4) == 0); // it has no guest yet

  // A server may lower a worker's weight, and cannot raise it above its part by that.
  struct request bound = {.worker = 2, .weight = 100};
  char reason[128];
  CHECK(bound_worker(workers, &bound, reason, sizeof reason));
  CHECK(weight(1) == 0 && weight(2) == 50);
  bound.weight = 20;
  CHECK(bound_worker(workers, &bound, reason, sizeof reason));
  CHECK(weight(2) == 10);
  bound.worker = 4;
  CHECK(bound_worker(workers, &bound, reason, sizeof reason));
  CHECK(weight(4) == 20);

  CHECK(reap_worker(workers, 2) == 2);
  CHECK(weight(1) == 100 && weight(3) == 0);
  CHECK(guests[1].workers == 1);

  char clean[64];
  snprintf(clean, sizeof clean, "rm -r %s", folder);
  CHECK(system(clean) == 0);
  for (int i = 0; i < WORKERS; i++) free(workers->all[i].cgroup);
  free(workers);
  printf("weights: passed\n");
  return 0;
}
