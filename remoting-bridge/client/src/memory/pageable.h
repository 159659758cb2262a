/* The parts of pageable memory that the nodes of each graph name. Each part has a mirror. Two mirrors of the same bytes are made equal before a graph is launched and after the program has waited, but not within a launch, so a graph may read both, and write neither. */
#ifndef GRAFT_PAGEABLE_H
#define GRAFT_PAGEABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

struct graft_pageable {
  struct graft_pageable *next;
  const uint8_t *host;
  size_t bytes;
  uint64_t device; /* where its mirror has it */
  bool is_written;
};

/* In the following, a graph may be an executable one. */

/* The device's address of a part that a node of a graph names, to write or to read it. NOT_SUPPORTED if the graph names an overlapping part that has another mirror, and one of both is written. */
int graft_pageable_of(struct graft_object *graph, const void *host, size_t bytes, bool writes, uint64_t *device);
/* Gives a graph the parts of another one as well, of which it gets copies of the nodes. NOT_SUPPORTED as above. */
int graft_pageable_copy(struct graft_object *to, const struct graft_object *from);
/* Lets a graph that is part of another one (a conditional node's body, a child graph) have the parts of that one. */
void graft_pageable_share(struct graft_object *part, struct graft_object *whole);
/* Forgets the parts of a graph that ends or gets others. */
void graft_pageable_drop(struct graft_object *graph);
/* The parts of an executable graph, which stay as they are while it is launched. */
const struct graft_pageable *graft_pageable_parts(const struct graft_object *exec);

#endif
