#include "module/jit_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/devices.h"
#include "api/rpc.h"
#include "base/crypto.h"
#include "module/code.h"
#include "module/compute_cache.h"
#include "session/parts.h"
#include "session/session.h"

#define ELF_ENTRY 2

/* CUjitInputType */

/* Kinds of cache entries, apart from those that compilers in this process use (small numbers). */
enum { LOADED = 0x10001, INPUTS = 0x10002, LINKED = 0x10003 };

bool graft_jit_cacheable(const uint64_t *words, unsigned used) {
  /* CUjit_option: registers, optimization level, target, fallback, debug information, line information, cache mode, FTZ, division, square root, FMA. Other options write to the program's memory, or point to it. */
  static const uint8_t numbers[] = {0, 7, 8, 9, 10, 11, 13, 14, 20, 21, 22, 23};
  for (unsigned i = 0; i + 1 < used; i += 2) {
    bool found = false;
    for (size_t k = 0; k < sizeof numbers; k++) found = found || words[i] == numbers[k];
    if (!found) return false;
  }
  return true;
}

/* Whether a fat binary has machine code for the device: of the same major architecture, and not newer. The driver prefers that to PTX. */
static bool has_machine_code(const uint8_t *fatbin, size_t bytes, const struct graft_jit_target *target) {
  size_t at = graft_get16(fatbin + 6);
  while (at + 64 <= bytes) {
    const uint8_t *entry = fatbin + at;
    uint64_t head = graft_get32(entry + 4), payload = graft_get64(entry + 8);
    uint32_t architecture = graft_get32(entry + 28);
    if (head < 64 || head > bytes - at || payload > bytes - at - head) return true; /* malformed: left to the driver */
    if (graft_get16(entry) == ELF_ENTRY && architecture / 10 == target->major && architecture % 10 <= target->minor) return true;
    at += head + payload;
  }
  return false;
}

int graft_jit_type(const void *image, size_t bytes, const struct graft_jit_target *target) {
  const uint8_t *p = image;
  if (bytes < 16) return -1;
  if (graft_get32(p) == GRAFT_FATBIN_MAGIC) return has_machine_code(p, bytes, target) ? -1 : GRAFT_INPUT_FATBINARY;
  return graft_image_is_ptx(image) ? GRAFT_INPUT_PTX : -1;
}

static void *open_entry(int kind, const void *input, size_t bytes, const char *options, const struct graft_jit_target *target) {
  void *entry = NULL;
  return graft_cache_open(&entry, kind, input, bytes, options, target ? target->device : "", target ? target->driver : "",
                          target ? target->major * 10 + target->minor : 0)
             ? NULL
             : entry;
}

static void *load_entry(void *entry, size_t *size) {
  void *data = NULL;
  uint32_t bytes = 0;
  if (!entry || graft_cache_load(entry, 0, &data, &bytes)) return NULL;
  *size = bytes;
  return data;
}

/* The options as text, which is part of a cache entry's name. */
static char *options_text(const uint64_t *words, unsigned used) {
  char *text = calloc(used + 1u, 18);
  for (unsigned i = 0; text && i < used; i++) sprintf(text + 17 * i, "%016llx ", (unsigned long long)words[i]);
  return text;
}

void *graft_jit_code(const void *image, size_t bytes, const uint64_t *words, unsigned used, const struct graft_jit_target *target,
                     graft_jit_compile *compile, size_t *size) {
  bool *compiles_nothing = &graft_parts(graft_session_current())->compiles_nothing;
  int type =
      !__atomic_load_n(compiles_nothing, __ATOMIC_RELAXED) && graft_cache_is_on() ? graft_jit_type(image, bytes, target) : -1;
  if (type < 0 || !graft_jit_cacheable(words, used)) return NULL;
  char *options = options_text(words, used);
  void *entry = options ? open_entry(LOADED, image, bytes, options, target) : NULL;
  free(options);
  if (!entry) return NULL;
  void *code = load_entry(entry, size);
  if (!code) {
    int r = compile(type, image, bytes, words, used, &code, size);
    if (r == GRAFT_NOT_SUPPORTED) __atomic_store_n(compiles_nothing, true, __ATOMIC_RELAXED);
    if (r) {
      code = NULL;
    } else {
      graft_cache_store(entry, 0, code, *size);
    }
  }
  graft_cache_close(entry);
  return code;
}

/* ---- Links ---- */

void graft_jit_key_start(struct graft_jit_key *key, const uint64_t *words, unsigned used, const struct graft_jit_target *target) {
  uint8_t parts[4 * 32];
  uint32_t numbers[3] = {target->major, target->minor, (uint32_t)graft_driver_version()};
  graft_sha256(numbers, sizeof numbers, parts);
  graft_sha256(target->device, strlen(target->device), parts + 32);
  graft_sha256(target->driver, strlen(target->driver), parts + 64);
  graft_sha256(words, used * sizeof *words, parts + 96);
  graft_sha256(parts, sizeof parts, key->hash);
}

void graft_jit_key_add(struct graft_jit_key *key, int type, const char *name, const void *data, size_t bytes) {
  uint8_t parts[4 * 32];
  uint32_t number = (uint32_t)type;
  memcpy(parts, key->hash, 32);
  graft_sha256(&number, sizeof number, parts + 32);
  graft_sha256(name, strlen(name), parts + 64);
  graft_sha256(data, bytes, parts + 96);
  graft_sha256(parts, sizeof parts, key->hash);
}

static void *entry_of(int kind, const struct graft_jit_key *key) { return open_entry(kind, key->hash, sizeof key->hash, "", NULL); }

static void keep(int kind, const struct graft_jit_key *key, const void *data, size_t size) {
  void *entry = entry_of(kind, key);
  if (!entry) return;
  graft_cache_store(entry, 0, data, size);
  graft_cache_close(entry);
}

static void *find(int kind, const struct graft_jit_key *key, size_t *size) {
  void *entry = entry_of(kind, key), *data = load_entry(entry, size);
  if (entry) graft_cache_close(entry);
  return data;
}

bool graft_jit_inputs_known(const struct graft_jit_key *key) {
  size_t size;
  void *data = find(INPUTS, key, &size);
  free(data);
  return data;
}

void graft_jit_inputs_keep(const struct graft_jit_key *key) { keep(INPUTS, key, "taken", 5); }

void *graft_jit_linked(const struct graft_jit_key *key, size_t *size) { return find(LINKED, key, size); }

void graft_jit_linked_keep(const struct graft_jit_key *key, const void *code, size_t size) { keep(LINKED, key, code, size); }
