// --check tries each part of the jail in a process of its own, and prints "NAME ok" or "NAME: why not".
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "filter.h"
#include "jail.h"

typedef void trial_function(const struct options *);

static void in_namespaces(const struct options *options) {
  enter_namespaces(options);
  enter_root(options);
}

// The worker's user must be able to read what a worker needs, by the paths that the worker sees.
static void as_user(const struct options *options) {
  in_namespaces(options);
  drop_privileges(options);
  check_readable(options);
}

static void in_filter(const struct options *options) {
  drop_privileges(options);
  filter_calls(options, "/nothing");
}

static void in_cgroup(const struct options *options) {
  if (!options->cgroup) {
    errno = 0;
    fail("there is no cgroup (version 2) below which the server may create others");
  }
  enter_cgroup(options);
}

// Runs a trial. Returns false if it failed, with its message.
static bool works(const struct options *options, trial_function *trial, char *reason, size_t size) {
  int ends[2];
  if (pipe(ends) < 0) fail("pipe");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    if (dup2(ends[1], 2) < 0) _exit(1);
    trial(options);
    _exit(0);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t count;
  while (length < size - 1 && (count = read(ends[0], reason + length, size - 1 - length)) > 0) length += (size_t)count;
  close(ends[0]);
  reason[length] = 0;
  reason[strcspn(reason, "\n")] = 0;
  int status;
  if (waitpid(child, &status, 0) < 0) fail("waitpid");
  if (!WIFEXITED(status)) snprintf(reason, size, "a trial was killed by signal %d", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int check(const struct options *options) {
  static const struct {
    enum feature feature;
    trial_function *trial;
  } parts[] = {{MOUNTS, in_namespaces},           {NETWORK, in_namespaces}, {IPC, in_namespaces},
               {UTS, in_namespaces},              {CGROUP_NAMESPACE, in_namespaces},
               {USER, as_user},                   {CAPABILITIES, drop_privileges},
               {SECCOMP, in_filter},              {LIMITS, in_cgroup},
               {GUEST_FOLDER, check_guest_folder}};
  static const char prefix[] = "graft-jail: ";
  unsigned user_namespace = 0, had = 0;
  char reason[1024];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    struct options one = *options;
    one.features = parts[i].feature | (parts[i].feature == USER ? had & MOUNTS : 0);
    bool can = false;
    if (parts[i].feature == USER && user_namespace) {
      snprintf(reason, sizeof reason, "in a user namespace only the server's own user exists");
    } else {
      can = works(&one, parts[i].trial, reason, sizeof reason);
    }
    if (!can && parts[i].trial == in_namespaces) {
      one.features |= USER_NAMESPACE;
      char again[sizeof reason];
      can = works(&one, parts[i].trial, again, sizeof again);
      if (can) user_namespace = USER_NAMESPACE;
    }
    if (can) had |= parts[i].feature;
    const char *why = strncmp(reason, prefix, strlen(prefix)) == 0 ? reason + strlen(prefix) : reason;
    printf("%s %s\n", name_of(parts[i].feature), can ? "ok" : why);
  }
  if (user_namespace) printf("%s ok\n", name_of(USER_NAMESPACE));
  if (options->cgroup) rmdir(options->cgroup);
  return 0;
}
