/* Images of code: fatbins, ELF files and PTX text, and the wrapper that compilers put around a fatbin. */
#include <string.h>

#include "module/code.h"

const void *graft_image_unwrap(const void *image) {
  if (image && graft_get32(image) == GRAFT_WRAPPER_MAGIC) {
    const void *data;
    memcpy(&data, (const char *)image + 8, sizeof data);
    return data;
  }
  return image;
}

/* The end of an ELF file: the furthest of its section headers, sections and segments. */
static size_t elf_size(const uint8_t *p) {
  if (p[4] != 2) return 0; /* device code is 64-bit */
  uint64_t end = 64, sections = graft_get64(p + 40), programs = graft_get64(p + 32);
  unsigned section_size = graft_get16(p + 58), section_count = graft_get16(p + 60);
  unsigned program_size = graft_get16(p + 54), program_count = graft_get16(p + 56);
  if (sections + (uint64_t)section_size * section_count > end) end = sections + (uint64_t)section_size * section_count;
  if (programs + (uint64_t)program_size * program_count > end) end = programs + (uint64_t)program_size * program_count;
  for (unsigned i = 0; i < section_count; i++) {
    const uint8_t *s = p + sections + (uint64_t)i * section_size;
    if (graft_get32(s + 4) != 8 && graft_get64(s + 24) + graft_get64(s + 32) > end)
      end = graft_get64(s + 24) + graft_get64(s + 32); /* 8: SHT_NOBITS */
  }
  for (unsigned i = 0; i < program_count; i++) {
    const uint8_t *s = p + programs + (uint64_t)i * program_size;
    if (graft_get64(s + 8) + graft_get64(s + 32) > end) end = graft_get64(s + 8) + graft_get64(s + 32);
  }
  return end;
}

/* PTX text starts with a comment, white space or a directive. */
bool graft_image_is_ptx(const void *image) {
  char first = *(const char *)image;
  return first == '/' || first == '.' || first == '\n' || first == '\r' || first == ' ' || first == '\t';
}

size_t graft_image_size(const void *image) {
  const uint8_t *p = image;
  if (graft_get32(p) == GRAFT_FATBIN_MAGIC) return graft_get16(p + 6) + graft_get64(p + 8);
  if (!memcmp(p, "\177ELF", 4)) return elf_size(p);
  return graft_image_is_ptx(image) ? strlen(image) + 1 : 0;
}
