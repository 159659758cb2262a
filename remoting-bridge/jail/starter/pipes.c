// The folder of the sockets by which workers reach NVIDIA's MPS. Its parent belongs to this process's user alone; the
// folder belongs to the workers' user, so that nothing in it is trusted: it is only emptied.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "starter.h"

// Removes what MPS leaves, which are no folders.
static void empty(int folder) {
  int copy = dup(folder);
  DIR *entries = copy < 0 ? 0 : fdopendir(copy);
  if (!entries) return;
  for (struct dirent *entry; (entry = readdir(entries));) unlinkat(folder, entry->d_name, 0);
  closedir(entries);
}

// Removes what a starter left that was killed. The user is locked, so that no other starter has these.
static void remove_left(const char *parent, const char *prefix) {
  DIR *entries = opendir(parent);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
    char *path = 0;
    if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0) die("allocate memory");
    close_pipes(path);
    free(path);
  }
  if (entries) closedir(entries);
}

char *open_pipes(const char *users, uid_t user) {
  char *parent = strdup(users), *path = 0, prefix[32];
  char *slash = parent ? strrchr(parent, '/') : 0;
  errno = EINVAL;
  if (!slash) die("find the folder of %s", users);
  *slash = 0;
  snprintf(prefix, sizeof prefix, "mps-%u-", (unsigned)user);
  remove_left(parent, prefix);
  if (asprintf(&path, "%s/%s%d", parent, prefix, (int)getpid()) < 0) die("allocate memory");
  if (mkdir(path, 0700) < 0) die("create %s", path);
  // The parent is this process's user's alone.
  if (lchown(path, user, user) < 0) die("give %s to user %u", path, (unsigned)user);
  free(parent);
  return path;
}

void close_pipes(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  empty(fd);
  close(fd);
  rmdir(folder);
}
