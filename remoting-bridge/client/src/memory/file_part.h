/* Which part of a file a part of the program's memory is: two mappings of the same part are the same memory at two addresses. */
#ifndef GRAFT_FILE_PART_H
#define GRAFT_FILE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_file_part {
  uint64_t device, inode, offset, bytes;
};

/* False if the memory is not one shared mapping of a file. For memory that others may share this takes longer the more mappings the process has. */
bool graft_file_part_of(const void *memory, size_t bytes, struct graft_file_part *part);
bool graft_file_part_is_same(const struct graft_file_part *one, const struct graft_file_part *other);

#endif
