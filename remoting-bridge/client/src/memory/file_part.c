#include "memory/file_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of maps (proc_pid_maps(5)). */
static bool is_part(const char *line, uint64_t from, uint64_t to, struct graft_file_part *part) {
  uint64_t start, end, offset, inode;
  unsigned major, minor;
  char permissions[5];
  int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end, permissions, &offset, &major,
                      &minor, &inode);
  if (fields != 7 || from < start || to > end || !strchr(permissions, 's') || !inode) return false;
  *part = (struct graft_file_part){
      .device = (uint64_t)major << 32 | minor, .inode = inode, .offset = offset + (from - start), .bytes = to - from};
  return true;
}

bool graft_file_part_of(const void *memory, size_t bytes, struct graft_file_part *part) {
  uint64_t from = (uintptr_t)memory;
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  if (!maps || bytes > UINT64_MAX - from) bytes = 0;
  while (bytes && !found && getline(&line, &room, maps) > 0) found = is_part(line, from, from + bytes, part);
  free(line);
  if (maps) fclose(maps);
  return found;
}

bool graft_file_part_is_same(const struct graft_file_part *one, const struct graft_file_part *other) {
  return one->bytes && one->device == other->device && one->inode == other->inode && one->offset == other->offset &&
         one->bytes == other->bytes;
}
