/* Code as the program hands it over. */
#ifndef GRAFT_CODE_H
#define GRAFT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

/* Whether the server has this code, so that its hash will do. */
bool graft_code_is_known(const void *data, size_t bytes, uint8_t hash[32]);
/* Length of an image: fatbin, ELF or PTX text. 0 if it is none of them. */
size_t graft_image_size(const void *image);
/* Takes the wrapper off. */
const void *graft_image_unwrap(const void *image);
int graft_function_attribute(struct graft_object *function, int attribute, int device, int *value);

#endif
