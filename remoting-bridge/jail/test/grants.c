// Who gets pages for vchan: what the list of domains says, and what a xenstore that may be hostile says. A process plays
// xenstore. That pages are granted needs Xen, and is tested in the lab.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../starter/starter.h"

#define CHECK(what) ((what) ? (void)0 : failed(#what, __LINE__))

static char folder[] = "/tmp/graft-grants-test-XXXXXX";
static char list[64];

static void failed(const char *what, int line) {
  fprintf(stderr, "FAILED at line %d: %s (errno %s)\n", line, what, strerror(errno));
  exit(1);
}

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct head {
  uint32_t type, request, transaction, length;
};

enum { RIGHT, OTHER_TYPE, OTHER_REQUEST, TOO_LONG, SHORT, CLOSED, SILENT, IN_PIECES, UNENDED, RANDOM, LIES };

static void put(int fd, uint32_t type, const void *bytes, size_t size, int lie) {
  struct head head = {type, lie == OTHER_REQUEST ? 7 : 1, 0, (uint32_t)size};
  char all[sizeof head + 8192] = {0};
  if (lie == OTHER_TYPE) head.type = 15;
  if (lie == TOO_LONG) head.length = 4097 + (uint32_t)rand();
  memcpy(all, &head, sizeof head);
  memcpy(all + sizeof head, bytes, size);
  size_t length = sizeof head + size;
  if (lie == SHORT) length--;
  if (lie == RANDOM) {
    for (size_t i = 0; i < length; i++) all[i] = (char)rand();
  }
  for (size_t at = 0, part = lie == IN_PIECES ? 1 : length; at < length; at += part) {
    if (send(fd, all + at, part, MSG_NOSIGNAL) < 0) return;
  }
  if (lie == SHORT) shutdown(fd, SHUT_RDWR);
}

// Domains 0, 3 (which has gone), 7 ("setup-one"), 12 ("setup-one-more"), and one whose name has a 0 in it.
static void play_xenstore(int fd, int lie) {
  struct head head;
  char path[256];
  while (recv(fd, &head, sizeof head, MSG_WAITALL) == sizeof head && head.length < sizeof path &&
         recv(fd, path, head.length, MSG_WAITALL) == (ssize_t)head.length) {
    static const char names[] = "0\0" "3\0" "12\0" "x\0" "99999999999\0" "44\0" "7";
    if (lie == CLOSED) return;
    if (lie == SILENT) pause();
    if (strcmp(path, "domid") == 0) put(fd, head.type, "0", 1, lie == UNENDED ? RIGHT : lie);
    else if (strcmp(path, "/local/domain") == 0) put(fd, head.type, names, sizeof names - (lie == UNENDED), lie);
    else if (strcmp(path, "/local/domain/7/name") == 0) put(fd, head.type, "setup-one", 9, lie);
    else if (strcmp(path, "/local/domain/12/name") == 0) put(fd, head.type, "setup-one-more", 14, lie);
    else if (strcmp(path, "/local/domain/44/name") == 0) put(fd, head.type, "hidden\0x", 8, lie);
    else if (strcmp(path, "/local/domain/0/name") == 0) put(fd, head.type, "Domain-0", 8, lie);
    else put(fd, 16, "ENOENT", 7, lie);
  }
}

static int ask(const char *name, int lie, int64_t milliseconds) {
  int ends[2], self = -1;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(ends[0]);
    play_xenstore(ends[1], lie);
    _exit(0);
  }
  close(ends[1]);
  int found = find_domain(ends[0], name, &self, now() + milliseconds), error = errno;
  CHECK(found < 0 || self == 0);
  close(ends[0]);
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  errno = error;
  return found;
}

static void aDomainIsFoundByItsNameAlone(void) {
  CHECK(ask("setup-one", RIGHT, 10000) == 7 && ask("setup-one-more", RIGHT, 10000) == 12);
  CHECK(ask("setup-one", IN_PIECES, 10000) == 7 && ask("setup-one", UNENDED, 10000) == 7);
  static const char *const absent[] = {"setup", "setup-one-", "hidden", "Domain-0", "ENOENT", "0"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) CHECK(ask(absent[i], RIGHT, 10000) == -1 && errno == ENOENT);
}

static void aXenstoreThatLiesIsLeft(void) {
  for (int lie = OTHER_TYPE; lie < SILENT; lie++) CHECK(ask("setup-one", lie, 10000) == -1 && errno != ENOENT);
  int64_t start = now();
  CHECK(ask("setup-one", SILENT, 200) == -1 && errno == ETIMEDOUT && now() - start < 5000);
  for (unsigned seed = 0; seed < 200; seed++) {
    srand(seed);
    CHECK(ask("setup-one", RANDOM, 300) == -1);
  }
}

static void write_list(const char *text, mode_t mode) {
  unlink(list);
  FILE *out = fopen(list, "w");
  CHECK(out && fputs(text, out) >= 0 && fclose(out) == 0 && chmod(list, mode) == 0);
}

static void onlyAListThatNobodyElseCanWriteCounts(void) {
  char reason[512] = "";
  CHECK(!is_listed(list, "left", reason, sizeof reason) && strstr(reason, "No such file"));
  write_list("left\nright-one\n", 0600);
  CHECK(is_listed(list, "left", reason, sizeof reason) && is_listed(list, "right-one", reason, sizeof reason));
  static const char *const absent[] = {"lef", "leftt", "right", "one", "", "left\nright-one"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
    CHECK(!is_listed(list, absent[i], reason, sizeof reason) && strstr(reason, "does not name the domain"));
  }
  write_list("left\n", 0620);
  CHECK(!is_listed(list, "left", reason, sizeof reason) && strstr(reason, "nobody else can write"));
  write_list("left\n", 0602);
  CHECK(!is_listed(list, "left", reason, sizeof reason));
  write_list("left\n", 0600);
  if (geteuid() == 0) {
    CHECK(chown(list, 1, 1) == 0 && !is_listed(list, "left", reason, sizeof reason));
  }
  char other[80];
  snprintf(other, sizeof other, "%s.other", list);
  write_list("left\n", 0600);
  CHECK(rename(list, other) == 0 && symlink(other, list) == 0);
  CHECK(!is_listed(list, "left", reason, sizeof reason));
  CHECK(unlink(list) == 0 && mkfifo(list, 0600) == 0 && !is_listed(list, "left", reason, sizeof reason));
  CHECK(unlink(list) == 0 && unlink(other) == 0);
}

static void aDomainThatIsNotListedIsNotLookedFor(void) {
  struct pages pages = {0};
  int fds[2] = {-1, -1};
  char reason[512];
  write_list("left\n", 0600);
  CHECK(!grant_pages(list, "right", &pages, fds, reason, sizeof reason) && strstr(reason, "does not name the domain right"));
  CHECK(fds[0] == -1 && fds[1] == -1 && unlink(list) == 0);
}

int main(void) {
  CHECK(mkdtemp(folder));
  snprintf(list, sizeof list, "%s/domains", folder);
  aDomainIsFoundByItsNameAlone();
  aXenstoreThatLiesIsLeft();
  onlyAListThatNobodyElseCanWriteCounts();
  aDomainThatIsNotListedIsNotLookedFor();
  CHECK(rmdir(folder) == 0);
  printf("pages for vchan: 4 tests passed\n");
  return 0;
}
