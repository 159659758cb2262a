#include "api/tools.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* compute-sanitizer, ncu, nsys. Not libcupti, which libraries load without a profiler. */
bool graft_is_tool(const char *path) {
  static const char *const beginnings[] = {"libsanitizer-", "libcuda-injection", "libToolsInjection"};
  bool is = false;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    is |= !strncmp(file_of(path), beginnings[i], strlen(beginnings[i]));
  }
  return is;
}

static void say_once(const char *what) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&said)) return;
  graft_say(
      "%s needs the driver of a GPU in this machine, and shows nothing of a remote one; graft trace and graft run --profiler do",
      what);
}

void graft_tools_begin(void) {
  const char *library = getenv("CUDA_INJECTION64_PATH");
  if (library && *library) say_once("the tool that CUDA_INJECTION64_PATH names");
}

/* The path is the rest of a line of maps (proc_pid_maps(5)), behind five fields. (dladdr would need another library in old C libraries.) */
void graft_tools_asked(const void *code) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  while (maps && !found && getline(&line, &room, maps) > 0) {
    uint64_t start, end;
    int path = 0;
    bool read = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &path) == 2 && path;
    found = read && (uintptr_t)code >= start && (uintptr_t)code < end;
    if (!found) continue;
    line[strcspn(line, "\n")] = 0;
    if (graft_is_tool(line + path)) say_once(file_of(line + path));
  }
  free(line);
  if (maps) fclose(maps);
}
