/* What the client knows of arrays. */
#ifndef GRAFT_ARRAY_H
#define GRAFT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* The box of a copy; x and width in bytes. */
struct graft_box {
  size_t x, y, z, width, height, depth;
};

/* Whether a box lies within an array. Asks the server for the array's size once; false if the client cannot know. */
bool graft_array_holds(void *array, const struct graft_box *box);

#endif
