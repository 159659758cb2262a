// graft-jail [--check] OPTION... -- COMMAND...
//   --use LIST            the parts of the jail, see names below
//   --root FOLDER         an empty folder, over which the jail's root file system is mounted
//   --connect SOCKET      the server's socket, which the command gets as descriptor 3
//   --control 3           the command keeps descriptor 3, which is connected to the server
//   --user NUMBER         user and group of the command
//   --read PATH           a file or folder to show, read-only; no part of the path is a symbolic link
//   --read-existing PATH  the same for a file that is left out once it has gone
//   --write PATH          a folder to show that the command may write to
//   --link PATH=TARGET    a symbolic link to show
//   --device PATH         a device node to show
//   --tmp BYTES           the size of /tmp
//   --limit NAME=VALUE    core, data, fsize, memlock, nofile or nproc of setrlimit(2)
//   --cgroup FOLDER       a cgroup to create for the command
//   --set FILE=VALUE      a file of that cgroup
//   --calls LIST          sets of system calls: base, driver, network
//   --log FILE            allows all system calls, and logs those that are in no set
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "filter.h"
#include "jail.h"

static const char *const names[] = {"user-namespace", "mounts",       "network", "ipc",    "uts", "cgroup-namespace",
                                    "user",           "capabilities", "seccomp", "limits",
                                    "guest-folder",   0};

static const char *const sets[] = {"base", "driver", "network", 0};

const char *name_of(enum feature feature) {
  int at = 0;
  while (feature >> at != 1) at++;
  return names[at];
}

// Returns the bits of a comma-separated list of names.
static unsigned bits(const char *list, const char *const *known) {
  unsigned found = 0;
  while (*list) {
    size_t length = strcspn(list, ",");
    int at = 0;
    while (known[at] && (strncmp(known[at], list, length) != 0 || known[at][length])) at++;
    if (!known[at]) fail("'%.*s' is not known", (int)length, list);
    found |= 1u << at;
    list += length + (list[length] == ',');
  }
  return found;
}

static unsigned long number(const char *text) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno) fail("'%s' is no number", text);
  return value;
}

static void add(struct list *list, const char *item) {
  if (list->count == LISTED) fail("more than %d of an option", LISTED);
  list->items[list->count++] = item;
}

struct options parse(char **arguments) {
  struct options options = {.user = (uid_t)-1, .temporary = 16 << 20};
  errno = 0;
  for (; *arguments; arguments += 2) {
    const char *option = *arguments;
    const char *value = arguments[1];
    if (strcmp(option, "--") == 0) {
      options.command = value ? arguments + 1 : 0;
      return options;
    }
    if (!value) fail("%s needs a value", option);
    if (strcmp(option, "--use") == 0) options.features = bits(value, names);
    else if (strcmp(option, "--root") == 0) options.root = value;
    else if (strcmp(option, "--connect") == 0) options.connect = value;
    else if (strcmp(option, "--control") == 0) options.control = number(value) == SERVER;
    else if (strcmp(option, "--user") == 0) options.user = (uid_t)number(value);
    else if (strcmp(option, "--read") == 0) add(&options.readable, value);
    else if (strcmp(option, "--read-existing") == 0) add(&options.existing, value);
    else if (strcmp(option, "--write") == 0) add(&options.writable, value);
    else if (strcmp(option, "--link") == 0) add(&options.links, value);
    else if (strcmp(option, "--device") == 0) add(&options.devices, value);
    else if (strcmp(option, "--tmp") == 0) options.temporary = number(value);
    else if (strcmp(option, "--limit") == 0) add(&options.limits, value);
    else if (strcmp(option, "--cgroup") == 0) options.cgroup = value;
    else if (strcmp(option, "--set") == 0) add(&options.settings, value);
    else if (strcmp(option, "--calls") == 0) options.calls = bits(value, sets);
    else if (strcmp(option, "--log") == 0) options.log = value;
    else fail("unknown option %s", option);
  }
  return options;
}
