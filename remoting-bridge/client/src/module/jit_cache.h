/* The compute cache for device code that the driver compiles when it is loaded (PTX). The server's driver has such a cache, too, but it ends with the worker. */
#ifndef GRAFT_JIT_CACHE_H
#define GRAFT_JIT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRAFT_INPUT_PTX = 1, GRAFT_INPUT_FATBINARY = 2 }; /* CUjitInputType */

/* What compiled code depends on besides its source. */
struct graft_jit_target {
  unsigned major, minor; /* compute capability */
  const char *device, *driver;
};

struct graft_object;
/* What code compiled for the context's device depends on; false if the device is not known. */
bool graft_jit_target_of(struct graft_object *context, struct graft_jit_target *target);

/* Whether these JIT options (pairs of CUjit_option and value) may be part of a cache entry's name: numbers that the driver only reads. */
bool graft_jit_cacheable(const uint64_t *words, unsigned used);

/* The CUjitInputType of an image that the driver has to compile, -1 if it holds code for that device or is of another kind. */
int graft_jit_type(const void *image, size_t bytes, const struct graft_jit_target *target);

/* Compiles an image. Returns 0 and code that the caller frees, or the driver's error. */
typedef int graft_jit_compile(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code,
                              size_t *size);

/* Returns the compiled image, from the cache or by `compile`; the caller frees it. NULL if the image is to be loaded as it is: if it needs no compiling, if the cache is switched off, or if it does not compile this way; then loading it returns the error. */
void *graft_jit_code(const void *image, size_t bytes, const uint64_t *words, unsigned used, const struct graft_jit_target *target,
                     graft_jit_compile *compile, size_t *size);

/* The key of the inputs of a link (cuLinkAddData) so far. */
struct graft_jit_key {
  uint8_t hash[32];
};
void graft_jit_key_start(struct graft_jit_key *key, const uint64_t *words, unsigned used, const struct graft_jit_target *target);
void graft_jit_key_add(struct graft_jit_key *key, int type, const char *name, const void *data, size_t bytes);
/* Whether the driver is known to accept these inputs; keeps that it does. */
bool graft_jit_inputs_known(const struct graft_jit_key *key);
void graft_jit_inputs_keep(const struct graft_jit_key *key);
/* The image that they were linked to, which the caller frees, or NULL; keeps that image. */
void *graft_jit_linked(const struct graft_jit_key *key, size_t *size);
void graft_jit_linked_keep(const struct graft_jit_key *key, const void *code, size_t size);

#endif
