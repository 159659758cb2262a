// Workers in jails, each another user, share files of mode 0600 through their guest's folder, as NVIDIA's driver does
// for CUDA's events; workers of other guests cannot. Needs root and Linux 6.3.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../src/guest.h"
#include "../src/jail.h"
#include "../starter/guest_folder.h"
#include "../starter/starter.h"

enum { FIRST_USER = 1990000001, WORD = 4096, SECONDS = 20 };

static const char *step;
static int failures;
static char root[64];

#define CHECK(condition, ...)                                               \
  do {                                                                      \
    if (!(condition)) {                                                     \
      failures++;                                                           \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);       \
      fprintf(stderr, __VA_ARGS__);                                         \
      fprintf(stderr, " (%s: %s)\n", step ? step : "no step", strerror(errno)); \
    }                                                                       \
  } while (0)

void fail(const char *what, ...) {
  va_list arguments;
  va_start(arguments, what);
  vfprintf(stderr, what, arguments);
  va_end(arguments);
  fprintf(stderr, ": %s\n", strerror(errno));
  _exit(EXIT_REFUSED);
}

void die(const char *what, ...) { fail("%s", what); }

void say(const char *what, ...) { fail("%s", what); }

// ---- what a worker does when the test tells it to. Each action returns a number, or -errno.

static char path[300];
static volatile uint32_t *word;

static long mapped(const char *name, int flags) {
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (fd < 0 || ((flags & O_CREAT) && ftruncate(fd, WORD) < 0)) return -errno;
  void *memory = mmap(0, WORD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return -errno;
  word = memory;
  return 0;
}

static long make(const char *name) { return mapped(name, O_CREAT | O_EXCL); }

static long open_it(const char *name) { return mapped(name, 0); }

// Sleeps until another process changes the word from 0.
static long wait_word(const char *none) {
  (void)none;
  struct timespec limit = {SECONDS, 0};
  while (*word == 0) {
    if (syscall(SYS_futex, word, FUTEX_WAIT, 0, &limit, 0, 0) < 0 && errno != EAGAIN && errno != EINTR) return -errno;
  }
  return (long)*word;
}

static long wake(const char *value) {
  *word = (uint32_t)atoi(value);
  long woken = syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
  return woken < 0 ? -errno : 0;
}

static long is_own(const char *name) {
  struct stat status;
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  return stat(path, &status) < 0 ? -errno : status.st_uid == getuid() && status.st_gid == getgid();
}

static long count(const char *none) {
  (void)none;
  long found = 0;
  DIR *folder = opendir("/dev/shm");
  if (!folder) return -errno;
  for (struct dirent *file; (file = readdir(folder));) found += file->d_name[0] != '.';
  closedir(folder);
  return found;
}

static long fill(const char *name) {
  static char block[1 << 20];
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return -errno;
  memset(block, 1, sizeof block);
  long bytes = 0;
  for (ssize_t written; (written = write(fd, block, sizeof block)) > 0 && bytes < 1l << 32;) bytes += written;
  close(fd);
  return bytes;
}

static long fill_with_files(const char *prefix) {
  for (long files = 0;; files++) {
    snprintf(path, sizeof path, "/dev/shm/%s%ld", prefix, files);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || files > 1 << 20) return files;
    close(fd);
  }
}

static long link_to(const char *target) {
  snprintf(path, sizeof path, "/dev/shm/cuda.shm.0.%x.1", (unsigned)getpid());
  return symlink(target, path) < 0 ? -errno : 0;
}

static long run_setuid(const char *name) {
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  if (fd < 0 || write(fd, "#!/bin/sh\n", 10) != 10 || fchmod(fd, 06755) < 0) return -errno;
  close(fd);
  char *arguments[] = {path, 0};
  execv(path, arguments);
  return -errno;
}

static long make_node(const char *name) {
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  return mknod(path, S_IFCHR | 0666, 0x101) < 0 ? -errno : 0;
}

static long replace_folder(const char *target) {
  if (rename("/dev/shm", "/dev/gone") == 0 || rmdir("/dev/shm") == 0 || symlink(target, "/dev/shm2") == 0) return 0;
  return -errno;
}

typedef long action(const char *argument);
enum what { MAKE, OPEN, WAIT, WAKE, IS_OWN, COUNT, FILL, FILES, LINK, SETUID, NODE, REPLACE };
static action *const actions[] = {make,  open_it,         wait_word, wake,       is_own,    count,
                                  fill,  fill_with_files, link_to,   run_setuid, make_node, replace_folder};

struct order {
  enum what what;
  char argument[64];
};

struct jailed {
  pid_t process;
  int to, from;
};

// Ends when the test does, since its end of the pipe closes.
static void serve(int in, int out) {
  for (struct order request; read(in, &request, sizeof request) == sizeof request;) {
    long answer = actions[request.what](request.argument);
    if (write(out, &answer, sizeof answer) != sizeof answer) break;
  }
  _exit(0);
}

static struct jailed start(uid_t user) {
  int in[2], out[2];
  char ready;
  if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) fail("pipe");
  struct jailed worker = {.process = fork(), .to = in[1], .from = out[0]};
  if (worker.process < 0) fail("fork");
  if (worker.process == 0) {
    struct options options = {.features = MOUNTS | NETWORK | IPC | USER | CAPABILITIES | GUEST_FOLDER,
                              .root = root,
                              .user = user,
                              .temporary = 1 << 20};
    close(in[1]);
    close(out[0]);
    enter_namespaces(&options);
    enter_root(&options);
    drop_privileges(&options);
    if (write(out[1], "", 1) != 1) _exit(1);
    serve(in[0], out[1]);
  }
  close(in[0]);
  close(out[1]);
  if (read(worker.from, &ready, 1) != 1) fail("a worker did not start");
  return worker;
}

static void tell(struct jailed worker, enum what what, const char *argument) {
  struct order request = {.what = what};
  snprintf(request.argument, sizeof request.argument, "%s", argument);
  if (write(worker.to, &request, sizeof request) != sizeof request) fail("tell a worker");
}

static long answer(struct jailed worker) {
  long result;
  return read(worker.from, &result, sizeof result) == sizeof result ? result : -EPIPE;
}

static long ask(struct jailed worker, enum what what, const char *argument) {
  tell(worker, what, argument);
  return answer(worker);
}

static void end(struct jailed worker) {
  kill(worker.process, SIGKILL);
  waitpid(worker.process, 0, 0);
  close(worker.to);
  close(worker.from);
}

// ---- two guests: two workers of the first, one of the second, and a spare that no guest has yet

static int first, second;
static struct jailed one, two, stranger, spare;

static void set_up(void) {
  first = guest_folder_make(1, &step);
  second = guest_folder_make(2, &step);
  CHECK(first >= 0 && second >= 0, "no folder");
  one = start(FIRST_USER);
  two = start(FIRST_USER + 1);
  stranger = start(FIRST_USER + 2);
  spare = start(FIRST_USER + 3);
  CHECK(guest_folder_give(first, one.process, &step) == 0, "give");
  CHECK(guest_folder_give(first, two.process, &step) == 0, "give");
  CHECK(guest_folder_give(second, stranger.process, &step) == 0, "give");
}

static void tear_down(void) {
  end(one);
  end(two);
  end(stranger);
  end(spare);
  guest_folder_remove(1, first);
  guest_folder_remove(2, second);
}

static void workers_of_a_guest_share_private_files(void) {
  struct stat status;
  CHECK(ask(one, MAKE, "event") == 0, "make");
  CHECK(ask(two, OPEN, "event") == 0, "a sibling cannot open it");
  CHECK(ask(one, IS_OWN, "event") == 1 && ask(two, IS_OWN, "event") == 1, "each sees it as its own");
  CHECK(fstatat(first, "event", &status, 0) == 0 && status.st_uid == GUEST_USER && (status.st_mode & 0777) == 0600,
        "on the tmpfs");
  tell(one, WAIT, "");
  CHECK(ask(two, WAKE, "7") == 0, "wake");
  CHECK(answer(one) == 7, "the waiter sees the value");
  CHECK(ask(two, MAKE, "event") == -EEXIST, "exclusive creation");
  end(one);
  one = start(FIRST_USER + 4);
  CHECK(guest_folder_give(first, one.process, &step) == 0, "give");
  CHECK(ask(one, OPEN, "event") == 0, "a later worker opens it too");
}

static void others_see_nothing_of_it(void) {
  CHECK(ask(one, MAKE, "event") == 0, "make");
  CHECK(ask(stranger, COUNT, "") == 0 && ask(spare, COUNT, "") == 0, "it is seen");
  CHECK(ask(stranger, OPEN, "event") == -ENOENT && ask(spare, OPEN, "event") == -ENOENT, "it is opened");
  CHECK(ask(stranger, MAKE, "event") == 0, "a file of the same name");
  CHECK(ask(one, COUNT, "") == 1, "it is seen");
}

static void what_a_spare_had_before_stays_its_own(void) {
  CHECK(ask(spare, MAKE, "before") == 0, "make");
  CHECK(guest_folder_give(first, spare.process, &step) == 0, "give");
  CHECK(ask(spare, COUNT, "") == 0 && ask(one, COUNT, "") == 0, "it is seen");
  CHECK(ask(spare, WAKE, "1") == 0, "mapped memory stays mapped");
}

static void a_full_folder_harms_its_guest_alone(void) {
  long bytes = ask(one, FILL, "big");
  CHECK(bytes > GUEST_FOLDER_BYTES / 2 && bytes <= GUEST_FOLDER_BYTES, "%ld bytes", bytes);
  CHECK(ask(two, FILL, "more") == 0, "a sibling still writes");
  long files = ask(one, FILES, "f");
  CHECK(files > 0 && files <= GUEST_FOLDER_FILES, "%ld files", files);
  CHECK(ask(stranger, MAKE, "event") == 0 && ask(stranger, FILL, "big") > GUEST_FOLDER_BYTES / 2, "the neighbour");
}

static void nothing_in_it_is_run_and_no_node_is_made(void) {
  CHECK(ask(one, SETUID, "program") == -EACCES, "it ran");
  CHECK(ask(one, NODE, "node") == -EPERM, "a node was made");
}

static void a_worker_cannot_replace_the_folder(void) {
  CHECK(ask(spare, REPLACE, "/tmp") < 0, "replaced");
  CHECK(guest_folder_give(first, spare.process, &step) == 0, "give");
  CHECK(ask(spare, REPLACE, "/tmp") < 0, "replaced");
}

// A root in which /dev/shm is something else, as if a worker could have changed it.
static struct jailed hostile(bool with_link) {
  struct jailed worker = {.to = -1, .from = -1};
  int ready[2];
  char byte;
  if (pipe2(ready, O_CLOEXEC) < 0) fail("pipe");
  worker.process = fork();
  if (worker.process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct options options = {.features = USER | MOUNTS | GUEST_FOLDER, .user = FIRST_USER + 5};
    make_user_namespace(&options);
    if (unshare(CLONE_NEWNS) < 0 || mount("x", root, "tmpfs", 0, 0) < 0 || chdir(root) < 0) fail("a root");
    if (mkdir("dev", 0755) < 0 || mkdir("tmp", 0755) < 0 || mount("x", "tmp", "tmpfs", 0, 0) < 0) fail("a root");
    if ((with_link ? symlink("/tmp", "dev/shm") : mkdir("dev/shm", 0755)) < 0) fail("/dev/shm");
    if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0) fail("pivot_root");
    drop_privileges(&options);
    if (write(ready[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) fail("a process did not start");
  close(ready[0]);
  return worker;
}

static void links_in_the_jail_are_not_followed(void) {
  struct jailed link = hostile(true), plain = hostile(false);
  CHECK(guest_folder_give(first, link.process, &step) == -1 && errno == ELOOP, "a link was followed");
  CHECK(guest_folder_give(first, plain.process, &step) == -1 && errno == ENOTUNIQ, "any folder was taken");
  end(link);
  end(plain);
}

// A worker whose jail is not built yet still has the host's mounts.
static void a_jail_that_is_not_complete_is_refused(void) {
  struct options options = {.features = MOUNTS, .root = root, .temporary = 1 << 20};
  for (int with_root = 0; with_root < 2; with_root++) {
    int ready[2];
    char byte;
    if (pipe2(ready, O_CLOEXEC) < 0) fail("pipe");
    struct jailed worker = {.process = fork(), .to = -1, .from = -1};
    if (worker.process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (with_root) {
        enter_namespaces(&options);
        enter_root(&options);
      }
      if (write(ready[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) fail("a process did not start");
    close(ready[0]);
    CHECK(guest_folder_give(first, worker.process, &step) == -1, "the host's own mounts would be changed");
    kill(worker.process, SIGKILL);
    siginfo_t ended;
    waitid(P_PID, (id_t)worker.process, &ended, WEXITED | WNOWAIT);
    CHECK(guest_folder_give(first, worker.process, &step) == -1, "a worker that has ended");
    end(worker);
  }
  CHECK(ask(one, COUNT, "") == 0, "the guest's folder");
}

static void the_files_of_an_ended_worker_are_removed(void) {
  char name[64], target[128];
  snprintf(target, sizeof target, "%s/target", root);
  close(open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  CHECK(ask(one, LINK, target) == 0, "link");
  snprintf(name, sizeof name, "cuda.shm.769cfd81.%x.1f", (unsigned)one.process);
  CHECK(ask(one, MAKE, name) == 0, "make");
  snprintf(name, sizeof name, "cuda.shm.769cfd81.%x.2", (unsigned)two.process);
  CHECK(ask(two, MAKE, name) == 0, "make");
  snprintf(name, sizeof name, "cuda.shm.%x", (unsigned)one.process);
  CHECK(ask(one, MAKE, name) == 0, "make");
  guest_folder_forget(first, one.process);
  CHECK(ask(two, COUNT, "") == 2, "%ld files are left", ask(two, COUNT, ""));
  CHECK(access(target, F_OK) == 0, "the link's target is gone");
  unlink(target);
}

static void a_guest_that_comes_back_begins_with_nothing(void) {
  CHECK(ask(one, MAKE, "event") == 0, "make");
  guest_folder_remove(1, first);
  first = guest_folder_make(1, &step);
  CHECK(first >= 0, "make the folder again");
  CHECK(guest_folder_give(first, spare.process, &step) == 0, "give");
  CHECK(ask(spare, COUNT, "") == 0, "it is seen");
}

static void the_folder_of_a_guest_ends_with_its_last_worker(void) {
  struct guests *guests = open_guests(3);
  CHECK(guests != 0, "open");
  struct jailed three = start(FIRST_USER + 7), four = start(FIRST_USER + 8);
  struct guest *guest = join_guest(guests, 1, three.process, &step), *same = join_guest(guests, 1, four.process, &step);
  CHECK(guest && guest == same, "one guest");
  CHECK(join_guest(guests, 2, spare.process, &step) != guest, "another guest");
  CHECK(ask(three, MAKE, "event") == 0 && ask(four, OPEN, "event") == 0 && ask(spare, COUNT, "") == 0, "they share");
  end(three);
  leave_guest(guest, three.process);
  CHECK(ask(four, COUNT, "") == 1, "the folder stays");
  three = start(FIRST_USER + 9);
  forget_numbers(guests);
  guest = join_guest(guests, 1, three.process, &step);
  CHECK(guest && guest != same && ask(three, COUNT, "") == 0, "another server's guest of that number");
  end(four);
  leave_guest(same, four.process);
  four = start(FIRST_USER + 10);
  CHECK(join_guest(guests, 3, four.process, &step) != 0 && ask(four, COUNT, "") == 0, "a place that was free again");
  end(four);
  end(three);
  free(guests);
}

static void no_other_process_sees_the_folders(void) {
  char line[4096];
  FILE *mounts = fopen("/proc/self/mountinfo", "r");
  CHECK(mounts != 0, "mountinfo");
  while (mounts && fgets(line, sizeof line, mounts)) CHECK(!strstr(line, "uid=65533"), "%s", line);
  if (mounts) fclose(mounts);
  CHECK(access("/proc/self/stat", F_OK) == 0, "this process has its own root again");
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void print_the_time_it_takes(void) {
  enum { TIMES = 100 };
  double started = milliseconds();
  for (int i = 0; i < TIMES; i++) CHECK(guest_folder_give(first, spare.process, &step) == 0, "give");
  printf("a folder is given in %.2f ms\n", (milliseconds() - started) / TIMES);
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
#define TEST(name) {#name, name}
    TEST(workers_of_a_guest_share_private_files),
    TEST(others_see_nothing_of_it),
    TEST(what_a_spare_had_before_stays_its_own),
    TEST(a_full_folder_harms_its_guest_alone),
    TEST(nothing_in_it_is_run_and_no_node_is_made),
    TEST(a_worker_cannot_replace_the_folder),
    TEST(links_in_the_jail_are_not_followed),
    TEST(a_jail_that_is_not_complete_is_refused),
    TEST(the_files_of_an_ended_worker_are_removed),
    TEST(a_guest_that_comes_back_begins_with_nothing),
    TEST(the_folder_of_a_guest_ends_with_its_last_worker),
    TEST(no_other_process_sees_the_folders),
    TEST(print_the_time_it_takes),
};

static int run_all(void) {
  alarm(300);
  if (guest_folders_open(&step) < 0) {
    printf("guest_folder: skipped: %s: %s\n", step, strerror(errno));
    return 0;
  }
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    int before = failures;
    set_up();
    tests[i].run();
    tear_down();
    if (failures > before) fprintf(stderr, "%s failed\n", tests[i].name);
  }
  printf("guest_folder: %zu tests, %d failures\n", sizeof tests / sizeof *tests, failures);
  return failures > 0;
}

// Whether this machine can do what is tested, which graft-jail --check reports too.
static bool is_possible(void) {
  struct options options = {.user = FIRST_USER};
  int status;
  pid_t child = fork();
  if (child == 0) {
    check_guest_folder(&options);
    _exit(0);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
  snprintf(root, sizeof root, "/tmp/graft-root-XXXXXX");
  if (!is_possible()) {
    printf("guest_folder: skipped\n");
    return 0;
  }
  if (!mkdtemp(root)) fail("mkdtemp");
  int result = run_all();
  rmdir(root);
  return result;
}
