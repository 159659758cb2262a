// The users that workers run as. Each user is one byte of a file, and a starter holds it by a lock on the byte, which
// the kernel releases when the starter ends: no two starters of a host use one user at the same time.
#include <fcntl.h>
#include <unistd.h>
#include "starter.h"

int open_users(const char *file) {
  int fd = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) die("open %s", file);
  return fd;
}

static bool lock(int file, uid_t user, short kind) {
  struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = (off_t)user, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

// Users are chosen in turn, so that one is not used again soon. The lock keeps other starters out; a starter's own
// locks do not conflict with each other, so the starter also asks its own workers.
uid_t take_user(int file, const struct config *config, const struct workers *workers) {
  static unsigned next;
  unsigned count = config->last_user - config->first_user + 1;
  for (unsigned tries = 0; tries < count; tries++) {
    uid_t user = config->first_user + next++ % count;
    if (!is_taken(workers, user) && lock(file, user, F_WRLCK)) return user;
  }
  return 0;
}

void give_user(int file, uid_t user) { lock(file, user, F_UNLCK); }
