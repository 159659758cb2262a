#include "memory/file_part.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Whether the first page is known to be the process's alone (proc_pid_pagemap(5)), so that its mappings, which may be many, need not be read. */
static bool is_private(uint64_t address) {
  enum { PAGE = 4096 };
  const uint64_t present = UINT64_C(1) << 63, of_file = UINT64_C(1) << 61;
  uint64_t page = 0;
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return false;
  bool known = pread(pagemap, &page, sizeof page, (off_t)(address / PAGE * sizeof page)) == sizeof page;
  close(pagemap);
  return known && page & present && !(page & of_file);
}

bool graft_file_part_of(const void *memory, size_t bytes, struct graft_file_part *part) {
  uint64_t from = (uintptr_t)memory;
  if (is_private(from)) return false;
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
