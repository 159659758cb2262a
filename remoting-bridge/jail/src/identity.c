// User, capabilities and resource limits.
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "guest.h"
#include "jail.h"

void limit(const struct options *options) {
  static const struct {
    const char *name;
    int resource;
  } known[] = {{"core", RLIMIT_CORE},       {"data", RLIMIT_DATA},     {"fsize", RLIMIT_FSIZE},
               {"memlock", RLIMIT_MEMLOCK}, {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC}};
  for (int i = 0; i < options->limits.count; i++) {
    const char *setting = options->limits.items[i];
    size_t length = strcspn(setting, "=");
    size_t at = 0;
    while (at < sizeof known / sizeof *known &&
           (strncmp(known[at].name, setting, length) != 0 || known[at].name[length])) {
      at++;
    }
    if (at == sizeof known / sizeof *known || !setting[length]) fail("unknown limit %s", setting);
    rlim_t value = strtoul(setting + length + 1, 0, 10);
    struct rlimit now;
    if (getrlimit(known[at].resource, &now) < 0) fail("getrlimit");
    // Only root may raise a hard limit. A hard limit that is lower than the requested one stays in place.
    if (geteuid() != 0 && now.rlim_max < value) value = now.rlim_max;
    struct rlimit wanted = {value, value};
    if (setrlimit(known[at].resource, &wanted) < 0) {
      wanted.rlim_cur = wanted.rlim_max = now.rlim_max < value ? now.rlim_max : value;
      if (setrlimit(known[at].resource, &wanted) < 0) fail("set the limit %s", setting);
    }
  }
}

void drop_privileges(const struct options *options) {
  uid_t user = options->user;
  if ((options->features & USER) && setgroups(0, 0) < 0) fail("setgroups");
  if (has_guest_folder(options)) {
    // This gives the process all capabilities in the namespace, which it loses below.
    enter_user_namespace();
    user = GUEST_USER;
  }
  if (options->features & CAPABILITIES) {
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) {
      // A server without root may not drop these capabilities, and no_new_privs keeps the worker from gaining any.
      if (prctl(PR_CAPBSET_DROP, capability) < 0 && errno != EPERM) fail("drop capability %d", capability);
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  }
  if (options->features & USER) {
    if (setresgid(user, user, user) < 0) fail("become group %u", (unsigned)options->user);
    if (setresuid(user, user, user) < 0) fail("become user %u", (unsigned)options->user);
  }
  if (options->features & CAPABILITIES) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) < 0) fail("drop the capabilities");
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("prctl(PR_SET_NO_NEW_PRIVS)");
}

void check_readable(const struct options *options) {
  for (int i = 0; i < options->readable.count; i++) {
    const char *path = options->readable.items[i];
    if (access(path, R_OK) < 0) {
      fail("the worker's user cannot read %s: give all users read access (chmod -R a+rX)", path);
    }
  }
}
