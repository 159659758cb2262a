// The workers' cgroups (version 2). Under systemd they lie in the cgroup of the starter's own unit, which delegates it
// (systemd: "Control Group APIs and Delegation"); elsewhere in /sys/fs/cgroup/graft, with names that contain the
// starter's process id, so that cgroups which a killed starter left behind can be recognized.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "starter.h"

static const char *const controllers[] = {"memory", "pids", "cpu", 0};

static bool write_text(const char *folder, const char *file, const char *text) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return done;
}

// Reads the first line of a file; an empty one if that fails.
static void read_line(const char *folder, const char *file, char *line, int size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  line[0] = 0;
  FILE *in = fopen(path, "re");
  if (!in) return;
  if (!fgets(line, size, in)) line[0] = 0;
  line[strcspn(line, "\n")] = 0;
  fclose(in);
}

static bool has_word(const char *line, const char *word) {
  size_t length = strlen(word);
  for (const char *at = line; (at = strstr(at, word)); at += length) {
    if ((at == line || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  }
  return false;
}

static bool delegate(const char *folder) {
  char now[1024], add[64];
  read_line(folder, "cgroup.subtree_control", now, sizeof now);
  for (int i = 0; controllers[i]; i++) {
    snprintf(add, sizeof add, "+%s", controllers[i]);
    if (!has_word(now, controllers[i]) && !write_text(folder, "cgroup.subtree_control", add)) return false;
  }
  return true;
}

static void sweep(const char *folder) {
  DIR *all = opendir(folder);
  if (!all) return;
  struct dirent *entry;
  while ((entry = readdir(all))) {
    char *end;
    long pid = strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '-' || pid <= 0 || (kill((pid_t)pid, 0) == 0 || errno != ESRCH)) continue;
    unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
  }
  closedir(all);
}

// A cgroup with controllers for its children has no processes itself (cgroups(7)), so the starter moves into a child.
static bool move_down(const char *folder) {
  char path[PATH_MAX + 16], pid[32];
  snprintf(path, sizeof path, "%s/starter", folder);
  if (mkdir(path, 0755) < 0 && errno != EEXIST) return false;
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  return write_text(path, "cgroup.procs", pid);
}

char *open_cgroups(const char *mount, const char *own, char *reason, size_t size) {
  char there[1024], folder[PATH_MAX];
  read_line(mount, "cgroup.controllers", there, sizeof there);
  if (!there[0]) {
    snprintf(reason, size, "%s is no cgroup hierarchy of version 2", mount);
    return 0;
  }
  if (own) snprintf(folder, sizeof folder, "%s%s", mount, own);
  else snprintf(folder, sizeof folder, "%s/graft", mount);
  read_line(own ? folder : mount, "cgroup.controllers", there, sizeof there);
  for (int i = 0; controllers[i]; i++) {
    if (!has_word(there, controllers[i])) {
      snprintf(reason, size, "%s lacks the controller %s", own ? folder : mount, controllers[i]);
      return 0;
    }
  }
  errno = 0;
  bool done = own ? move_down(folder) && delegate(folder)
                  : (mkdir(folder, 0755) == 0 || errno == EEXIST) && delegate(mount) && delegate(folder);
  if (!done) {
    snprintf(reason, size, "cannot divide %s: %s", own ? folder : mount, strerror(errno));
    return 0;
  }
  // A worker that takes too much memory is to be killed, not to fill the host's swap. In a unit of systemd its
  // MemorySwapMax= does this. Kernels that do not count swap have no such file.
  if (!own) write_text(folder, "memory.swap.max", "0");
  sweep(folder);
  return strdup(folder);
}

bool set_cgroup(const char *cgroup, const char *setting, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return write_text(cgroup, setting, text);
}
