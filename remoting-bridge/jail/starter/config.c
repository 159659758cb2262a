// The configuration: a text file that "graft serve --write-starter-config" makes. Each line is a word, a space, and the
// rest of the line as it is.
//   graft-starter 1             the version of this format
//   program PATH                graft-jail
//   users FIRST LAST            one user a worker; absent if the parts of the jail lack "user"
//   workers N, memory BYTES, threads N
//   mps                         all workers are clients of NVIDIA's MPS: one user, and a folder for its sockets
//   without-limits WHY          workers get no cgroups, for that reason
//   domains FILE                the list of Xen's domains that sessions may share pages with, one name a line; absent: all
//   part TEXT                   a line for the server: "NAME ok" or "NAME WHY NOT"
//   option NAME VALUE           of graft-jail, for all workers; not for MPS itself
//   environment NAME=VALUE      for all workers
//   kind NAME INDEX plain|adapter
// and for each kind:
//   use LIST                    the parts of the jail
//   option, environment, without-cgroup NAME VALUE, argument WORD
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "starter.h"

enum { MOST_BYTES = 8 << 20 };

void add_word(struct words *words, char *word) {
  if (!words->items) words->items = calloc(WORDS + 1, sizeof *words->items);
  if (!words->items) die("allocate memory");
  errno = 0;
  if (words->count == WORDS) die("the configuration has more than %d words of one sort", WORDS);
  words->items[words->count++] = word;
}

// A file that others can write would be theirs to say what this process does.
static char *read_trusted(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) die("open %s", path);
  struct stat status;
  if (fstat(fd, &status) < 0) die("look at %s", path);
  errno = 0;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 022) {
    die("%s has to be a file that belongs to user %u and that nobody else can write", path, (unsigned)geteuid());
  }
  if (status.st_size > MOST_BYTES) die("%s has more than %d bytes", path, MOST_BYTES);
  size_t size = (size_t)status.st_size, length = 0;
  char *text = malloc(size + 1);
  if (!text) die("allocate memory");
  ssize_t count;
  while (length < size && (count = read(fd, text + length, size - length)) > 0) length += (size_t)count;
  text[length] = 0;
  if (strlen(text) != length) die("%s contains a byte 0", path);
  close(fd);
  return text;
}

static uint64_t number(const char *text, uint64_t least, uint64_t most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
    errno = 0;
    die("the configuration has '%s' where a number from %llu to %llu belongs", text, (unsigned long long)least,
        (unsigned long long)most);
  }
  return value;
}

// Ends the first word of a text, and returns the rest.
static char *split(char *text) {
  char *space = strchr(text, ' ');
  if (!space) return text + strlen(text);
  *space = 0;
  return space + 1;
}

static void add_option(struct words *words, char *rest) {
  char *value = split(rest);
  add_word(words, rest);
  add_word(words, value);
}

static struct kind *add_kind(struct config *config, char *rest) {
  if (config->kind_count == KINDS) die("the configuration has more than %d kinds", KINDS);
  struct kind *kind = &config->kinds[config->kind_count++];
  char *index = split(rest), *adapter = split(index);
  if (strlen(rest) >= sizeof kind->name) die("the configuration has a kind with a long name");
  strcpy(kind->name, rest);
  kind->index = strcmp(index, "-1") == 0 ? -1 : (int)number(index, 0, 9999);
  kind->mps = strcmp(rest, "mps") == 0;
  kind->adapter = strcmp(adapter, "adapter") == 0;
  if (!kind->adapter && strcmp(adapter, "plain") != 0) die("the configuration has a kind that is '%s'", adapter);
  return kind;
}

static bool for_all(struct config *config, const char *word, char *rest) {
  if (strcmp(word, "program") == 0) config->program = rest;
  else if (strcmp(word, "users") == 0) {
    char *last = split(rest);
    config->has_users = true;
    config->first_user = (uid_t)number(rest, 1, INT_MAX);
    config->last_user = (uid_t)number(last, config->first_user, INT_MAX);
  } else if (strcmp(word, "workers") == 0) config->workers = (unsigned)number(rest, 1, 100000);
  else if (strcmp(word, "memory") == 0) config->memory = number(rest, 1 << 20, INT64_MAX);
  else if (strcmp(word, "threads") == 0) config->threads = (uint32_t)number(rest, 1, INT_MAX);
  else if (strcmp(word, "without-limits") == 0) config->without_limits = rest;
  else if (strcmp(word, "mps") == 0) config->mps = true;
  else if (strcmp(word, "domains") == 0) config->domains = rest;
  else if (strcmp(word, "part") == 0) {
    size_t length = strlen(config->isolation);
    int added = snprintf(config->isolation + length, sizeof config->isolation - length, "%s\n", rest);
    if (added < 0 || (size_t)added >= sizeof config->isolation - length) config->isolation[length] = 0;
  } else return false;
  return true;
}

static bool for_kind(struct config *config, struct kind *kind, const char *word, char *rest) {
  if (strcmp(word, "option") == 0) add_option(kind ? &kind->options : &config->options, rest);
  else if (strcmp(word, "environment") == 0) add_word(kind ? &kind->environment : &config->environment, rest);
  else if (!kind) return false;
  else if (strcmp(word, "use") == 0) kind->use = rest;
  else if (strcmp(word, "without-cgroup") == 0) add_option(&kind->without_cgroup, rest);
  else if (strcmp(word, "argument") == 0) add_word(&kind->command, rest);
  else return false;
  return true;
}

struct config *read_config(const char *path) {
  struct config *config = calloc(1, sizeof *config);
  if (!config) die("allocate memory");
  char *text = read_trusted(path);
  errno = 0;
  if (strncmp(text, "graft-starter 1\n", 16) != 0) die("%s is no configuration of this graft-starter", path);
  struct kind *kind = 0;
  for (char *line = text + 16, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = 0;
    char *rest = split(line);
    if (strcmp(line, "kind") == 0) kind = add_kind(config, rest);
    else if (!for_kind(config, kind, line, rest) && (kind || !for_all(config, line, rest))) {
      die("%s has an unknown line '%s'", path, line);
    }
  }
  if (!config->program || !config->workers || !config->memory || !config->threads || !config->kind_count) {
    die("%s lacks program, workers, memory, threads or kind", path);
  }
  for (int i = 0; i < config->kind_count; i++) {
    if (!config->kinds[i].use || !config->kinds[i].command.count) die("%s has a kind without use or argument", path);
  }
  return config;
}

const struct kind *find_kind(const struct config *config, const struct request *request) {
  for (int i = 0; i < config->kind_count; i++) {
    const struct kind *kind = &config->kinds[i];
    if (strncmp(kind->name, request->name, NAME_BYTES) == 0 && kind->index == request->index &&
        kind->adapter == (request->adapter == 1)) {
      return kind;
    }
  }
  return 0;
}
