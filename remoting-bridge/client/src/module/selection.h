/* Which parts of a fat binary the driver may use. */
#ifndef GRAFT_SELECTION_H
#define GRAFT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies a fat binary without its PTX, or without its machine code if it has PTX too. Returns the bytes that are used, 0 if the image is
 * no whole fat binary or nothing is left. The room has to be as large as the image. */
size_t graft_fatbin_select(const uint8_t *image, size_t bytes, bool without_ptx, uint8_t *room);

#endif
