/* Images of code: fatbins, ELF files and PTX text, and the wrapper that compilers put around a fatbin. */
#include <string.h>

#include "module/code.h"

#define FATBIN_MAGIC 0xBA55ED50u

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const uint8_t *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

const void *graft_image_unwrap(const void *image) {
  if (image && get32(image) == GRAFT_WRAPPER_MAGIC) {
    const void *data;
    memcpy(&data, (const char *)image + 8, sizeof data);
    return data;
  }
  return image;
}

/* An ELF's end: the furthest of its section headers, sections and segments. */
static size_t elf_size(const uint8_t *p) {
  if (p[4] != 2) return 0; /* device code is 64-bit */
  uint64_t end = 64, sections = get64(p + 40), programs = get64(p + 32);
  unsigned section_size = get16(p + 58), section_count = get16(p + 60);
  unsigned program_size = get16(p + 54), program_count = get16(p + 56);
  if (sections + (uint64_t)section_size * section_count > end) end = sections + (uint64_t)section_size * section_count;
  if (programs + (uint64_t)program_size * program_count > end) end = programs + (uint64_t)program_size * program_count;
  for (unsigned i = 0; i < section_count; i++) {
    const uint8_t *s = p + sections + (uint64_t)i * section_size;
    if (get32(s + 4) != 8 && get64(s + 24) + get64(s + 32) > end) end = get64(s + 24) + get64(s + 32); /* 8: no bits */
  }
  for (unsigned i = 0; i < program_count; i++) {
    const uint8_t *s = p + programs + (uint64_t)i * program_size;
    if (get64(s + 8) + get64(s + 32) > end) end = get64(s + 8) + get64(s + 32);
  }
  return end;
}

size_t graft_image_size(const void *image) {
  const uint8_t *p = image;
  if (get32(p) == FATBIN_MAGIC) return get16(p + 6) + get64(p + 8);
  if (!memcmp(p, "\177ELF", 4)) return elf_size(p);
  if (p[0] == '/' || p[0] == '.' || p[0] == '\n' || p[0] == '\r' || p[0] == ' ' || p[0] == '\t') {
    return strlen(image) + 1; /* PTX text starts with a comment, white space or a directive */
  }
  return 0;
}
