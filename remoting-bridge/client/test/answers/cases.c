/* The wrong arguments, by the kind of parameter. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "graft_rpc.h"

/* Not called at all: the first may stop this or another process, the others end or profile the process that calls them. */
static const char *const excluded[] = {"cuCheckpoint*", "cuProfiler*", "cuCoredump*", "cuLogsRegisterCallback"};

/* Calls that wait until memory has a value would never end with another one. */
static const char *const waiting[] = {"cuStreamWaitValue*"};

/* Functions of the program, which the driver calls: any other address crashes the program itself. */
static const char *const code[] = {"fn", "callback", "callbackFunc", "destroy", "blockSizeToDynamicSMemSize"};

static bool is_in(const char *const *patterns, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (!fnmatch(patterns[i], name, 0)) return true;
  }
  return false;
}
#define IS_IN(list, name) is_in(list, sizeof list / sizeof *list, name)

bool is_excluded(const struct function *function) { return IS_IN(excluded, function->name); }

bool is_observed(const struct function *function, const struct parameter *parameter) {
  static const char *const counts[] = {"numNodes", "numRootNodes", "numEdges", "numDependencies", "numDependentNodes"};
  return parameter->kind == POINTER && IS_IN(counts, parameter->name) && !fnmatch("cuGraph*Get*", function->name, 0);
}

struct list {
  const struct function *function;
  struct answer_case *to;
  int count;
};

static struct answer_case *add(struct list *list, int parameter, int how, uint64_t value, const char *label) {
  static struct answer_case unused;
  struct answer_case *one = list->to ? &list->to[list->count] : &unused;
  list->count++;
  *one = (struct answer_case){list->function, USABLE, parameter, how, value, ""};
  snprintf(one->label, sizeof one->label, "%s", label);
  return one;
}

static void values(struct list *list, int parameter, const uint64_t *value, int count) {
  for (int i = 0; i < count; i++) {
    char label[32];
    snprintf(label, sizeof label, value[i] > 1 << 20 ? "%#llx" : "%lld", (long long)value[i]);
    add(list, parameter, VALUE, value[i], label);
  }
}
#define VALUES(list, parameter, ...) \
  values(list, parameter, (uint64_t[]){__VA_ARGS__}, (int)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)))

static void numbers(struct list *list, int at, const struct parameter *p) {
  uint64_t largest = p->bytes == 8 ? ~0ull : (1ull << 8 * p->bytes) - 1;
  bool flags = !strcasecmp(p->name, "flags");
  if (flags) {
    VALUES(list, at, 1, 2, 3, 4, 8, 16, 256, largest);
  } else if (!IS_IN(waiting, list->function->name) || strcmp(p->name, "value")) {
    VALUES(list, at, 0, 1, largest);
  }
}

static void enumeration(struct list *list, int at) {
  int last = !strcmp(list->function->name, "cuDeviceGetAttribute") ? 160 : 32;
  for (int i = -1; i <= last; i++) VALUES(list, at, (uint32_t)i);
  VALUES(list, at, 1000, 0x7fffffff);
}

static void gone(struct list *list, int at) {
  static const char *const labels[] = {
      [OBJECT] = "destroyed", [NODE_ALONE] = "node destroyed", [CONTEXT_ALONE] = "context destroyed"};
  for (enum gone what = OBJECT; what <= CONTEXT_ALONE; what++) {
    if (world_can_be_gone(list->function, &list->function->parameters[at], what)) add(list, at, DESTROYED, what, labels[what]);
  }
}

static void parameter(struct list *list, int at) {
  const struct parameter *p = &list->function->parameters[at];
  switch (p->kind) {
    case HANDLE:
    case ENDS:
      add(list, at, VALUE, 0, "null");
      if (has_wild_handles) add(list, at, VALUE, 0x1234, "wild handle");
      add(list, at, OTHER_KIND, 0, "other kind");
      add(list, at, MEMORY_HANDLE, 0, "zeroed memory");
      if (p->handle == GRAFT_STREAM) {
        add(list, at, VALUE, 1, "legacy stream");
        add(list, at, VALUE, 2, "per-thread stream");
      }
      break;
    case HANDLES:
    case BLOCK:
    case POINTER:
      add(list, at, VALUE, 0, "null");
      if (is_observed(list->function, p)) {
        for (int i = 0; i <= 4; i++) {
          char label[16];
          snprintf(label, sizeof label, "holds %d", i);
          add(list, at, HOLDS, (uint64_t)i, label);
        }
        break;
      }
      if (IS_IN(code, p->name)) break;
      add(list, at, EMPTY_BLOCK, 0, "zeros");
      add(list, at, ONES_BLOCK, 0, "ones");
      if (!strcmp(p->name, "config")) {
        for (int i = 0; i <= 24; i++) {
          char label[16];
          snprintf(label, sizeof label, "attribute %d", i);
          add(list, at, ATTRIBUTE, (uint64_t)i, label);
        }
        add(list, at, ATTRIBUTE, 1000, "attribute 1000");
      }
      break;
    case RESULT: add(list, at, VALUE, 0, "null"); break;
    case TEXT:
      add(list, at, VALUE, 0, "null");
      add(list, at, STRING, (uint64_t) "", "empty");
      add(list, at, STRING, (uint64_t) "/nothing/has/this/name", "unknown");
      add(list, at, STRING, (uint64_t) "/dev/null", "empty file");
      break;
    case ADDRESS:
      add(list, at, VALUE, 0, "null");
      add(list, at, VALUE, 0x10, "wild");
      add(list, at, HOST_ADDRESS, 0, "host");
      add(list, at, PAST_END, 0, "end");
      break;
    case DEVICE: VALUES(list, at, (uint32_t)-1, (uint32_t)-2, 99); break;
    case ENUM: enumeration(list, at); break;
    case NUMBER: numbers(list, at, p); break;
    default: break;
  }
  gone(list, at);
}

int list_cases(const struct function *function, struct answer_case *to) {
  struct list list = {function, to, 0};
  add(&list, -1, VALUE, 0, "uninitialized")->state = UNINITIALIZED;
  add(&list, -1, VALUE, 0, "right");
  add(&list, -1, VALUE, 0, "no context")->state = NO_CONTEXT;
  add(&list, -1, VALUE, 0, "capturing")->state = CAPTURING;
  for (int i = 0; i < function->count; i++) parameter(&list, i);
  return list.count;
}

bool spoil(const struct answer_case *one, struct arguments *arguments) {
  static char zeroed[BUFFER_BYTES] __attribute__((aligned(4096)));
  static char host[WORLD_MEMORY_BYTES];
  int at = one->parameter;
  if (at < 0) return true;
  const struct parameter *p = &one->function->parameters[at];
  switch (one->how) {
    case VALUE:
    case STRING: arguments->value[at] = one->value; break;
    case EMPTY_BLOCK:
      arguments->value[at] = (uint64_t)arguments->buffer[at];
      memset(arguments->buffer[at], 0, BUFFER_BYTES);
      break;
    case ONES_BLOCK:
      arguments->value[at] = (uint64_t)arguments->buffer[at];
      memset(arguments->buffer[at], 0xff, BUFFER_BYTES);
      break;
    case HOLDS: memcpy(arguments->buffer[at], &one->value, 8); break;
    case OTHER_KIND:
      arguments->value[at] = world_handle(p->handle == GRAFT_EVENT ? GRAFT_STREAM : GRAFT_EVENT, one->function);
      break;
    case MEMORY_HANDLE:
      memset(zeroed, 0, sizeof zeroed);
      arguments->value[at] = (uint64_t)zeroed;
      break;
    case HOST_ADDRESS: arguments->value[at] = (uint64_t)host; break;
    case PAST_END: arguments->value[at] += WORLD_MEMORY_BYTES - 1; break;
    case ATTRIBUTE: { /* CUlaunchConfig: one attribute with a value of zeros */
      static uint8_t attribute[72];
      void *list = attribute;
      memset(attribute, 0, sizeof attribute);
      memcpy(attribute, &one->value, 4);
      memcpy((char *)arguments->buffer[at] + 40, &list, 8);
      memcpy((char *)arguments->buffer[at] + 48, &(uint32_t){1}, 4);
      break;
    }
    case DESTROYED: return world_destroyed(one->function, at, (enum gone)one->value, arguments);
  }
  return true;
}
