// Namespaces and the cgroup. There is no PID namespace, because CUDA's handles of memory and events for other
// processes do not work across one. Other processes are hidden (/proc shows only the process itself) and cannot be
// signalled or traced (user, seccomp).
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "jail.h"

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail("open %s", path);
  if (write(fd, text, strlen(text)) < 0) fail("write '%s' to %s", text, path);
  close(fd);
}

// The server has created the parent cgroup and enabled the controllers.
void enter_cgroup(const struct options *options) {
  if (!(options->features & LIMITS)) return;
  char path[4096], text[256];
  if (mkdir(options->cgroup, 0755) < 0) fail("create the cgroup %s", options->cgroup);
  for (int i = 0; i < options->settings.count; i++) {
    const char *setting = options->settings.items[i], *value = strchr(setting, '=');
    if (!value) fail("--set %s has no value", setting);
    snprintf(path, sizeof path, "%s/%.*s", options->cgroup, (int)(value - setting), setting);
    write_file(path, value + 1);
  }
  snprintf(path, sizeof path, "%s/cgroup.procs", options->cgroup);
  snprintf(text, sizeof text, "%d", (int)getpid());
  write_file(path, text);
}

bool has_guest_folder(const struct options *options) {
  enum feature needed = USER | MOUNTS | GUEST_FOLDER;
  return (options->features & needed) == needed;
}

void enter_namespaces(const struct options *options) {
  if (has_guest_folder(options)) make_user_namespace(options);
  uid_t user = getuid();
  gid_t group = getgid();
  int flags = 0;
  if (options->features & USER_NAMESPACE) flags |= CLONE_NEWUSER;
  if (options->features & MOUNTS) flags |= CLONE_NEWNS;
  if (options->features & NETWORK) flags |= CLONE_NEWNET;
  if (options->features & IPC) flags |= CLONE_NEWIPC;
  if (options->features & UTS) flags |= CLONE_NEWUTS;
  if (options->features & CGROUP_NAMESPACE) flags |= CLONE_NEWCGROUP;
  if (flags && unshare(flags) < 0) fail("unshare(0x%x)", (unsigned)flags);
  if (options->features & USER_NAMESPACE) {
    char map[64];
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", (unsigned)group, (unsigned)group);
    write_file("/proc/self/gid_map", map);
  }
  if ((options->features & UTS) && sethostname("graft", 5) < 0) fail("sethostname");
}
