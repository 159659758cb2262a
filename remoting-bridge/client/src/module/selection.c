/* CUDA_DISABLE_PTX_JIT and CUDA_FORCE_PTX_JIT belong to the program, while the driver that would read them runs at the server and serves
 * programs with other settings. The client therefore takes out of a fat binary what the driver may not use. */
#include "module/selection.h"

#include <string.h>

#include "module/code.h"

enum { PTX = 1, ELF = 2, LEAST_HEADER = 16 };

/* The entry at a place of a fat binary: its size, 0 if it does not fit into the rest. */
static size_t entry_size(const uint8_t *at, size_t rest) {
  if (rest < LEAST_HEADER) return 0;
  uint64_t header = graft_get32(at + 4), payload = graft_get64(at + 8);
  return header >= LEAST_HEADER && header <= rest && payload <= rest - header ? header + payload : 0;
}

size_t graft_fatbin_select(const uint8_t *image, size_t bytes, bool without_ptx, uint8_t *room) {
  size_t head = bytes >= 16 ? graft_get16(image + 6) : 0, used = head;
  if (bytes < 16 || graft_get32(image) != GRAFT_FATBIN_MAGIC || head < 16 || head > bytes) return 0;
  bool has_ptx = false;
  for (size_t at = head, size; at < bytes; at += size) {
    if (!(size = entry_size(image + at, bytes - at))) return 0;
    has_ptx |= graft_get16(image + at) == PTX;
  }
  memcpy(room, image, head);
  for (size_t at = head, size; at < bytes; at += size) {
    size = entry_size(image + at, bytes - at);
    unsigned kind = graft_get16(image + at);
    if (without_ptx ? kind == PTX : has_ptx && kind == ELF) continue;
    memcpy(room + used, image + at, size);
    used += size;
  }
  uint64_t content = used - head;
  memcpy(room + 8, &content, sizeof content);
  return content ? used : 0;
}
