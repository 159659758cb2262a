/* Code as the program provides it. */
#ifndef GRAFT_CODE_H
#define GRAFT_CODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_WRAPPER_MAGIC 0x466243B1u
#define GRAFT_FATBIN_MAGIC 0xBA55ED50u

/* Little-endian numbers of an image, which need not be aligned. */
static inline uint16_t graft_get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t graft_get32(const uint8_t *p) { return graft_get16(p) | (uint32_t)graft_get16(p + 2) << 16; }
static inline uint64_t graft_get64(const uint8_t *p) { return graft_get32(p) | (uint64_t)graft_get32(p + 4) << 32; }

/* The SHA-256 of code that a server has; asked for once. Guarded by lock, and constant once asked. */
#define GRAFT_MOST_KNOWN_CODE 256
struct graft_known_code {
  pthread_mutex_t lock;
  bool asked;
  uint32_t count;
  uint8_t hashes[GRAFT_MOST_KNOWN_CODE][32];
};

/* Whether the server of the calling thread's session has this code, so that the hash can be sent instead. */
bool graft_code_is_known(const void *data, size_t bytes, uint8_t hash[32]);
/* Length of an image: fatbin, ELF or PTX text. 0 if it is none of them. */
size_t graft_image_size(const void *image);
/* Whether an image is PTX text. */
bool graft_image_is_ptx(const void *image);
/* The image inside a wrapper. */
const void *graft_image_unwrap(const void *image);

/* Options of the JIT compiler. Those that point to the program's memory are not sent. */
#define GRAFT_JIT_OPTIONS 64
struct graft_jit {
  uint64_t words[2 * GRAFT_JIT_OPTIONS];
  unsigned used;
  char *info, *error;
  size_t info_room, error_room; /* 0 without that log */
  void **info_size, **error_size;
};
int graft_jit_read(struct graft_jit *jit, unsigned int count, const int *options, void **values);
/* Has the server's driver compile one image, as graft_jit_compile says. */
int graft_link_one(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code, size_t *size);
/* A file's contents, followed by a zero; NULL if the file cannot be read. */
void *graft_read_file(const char *path, size_t *bytes);

#endif
