/* Images, the compute cache, and the results of the JIT compiler in it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "api/rpc.h"
#include "module/code.h"
#include "module/compute_cache.h"
#include "module/jit_cache.h"
#include "module/selection.h"
#include "unit.h"

static void put32(uint8_t *p, uint32_t value) { memcpy(p, &value, 4); }
static void put64(uint8_t *p, uint64_t value) { memcpy(p, &value, 8); }

static void images(void) {
  uint8_t fatbin[64] = {0};
  put32(fatbin, 0xBA55ED50u);
  fatbin[4] = 1;
  fatbin[6] = 16;
  put64(fatbin + 8, 48);
  CHECK(graft_image_size(fatbin) == 64);
  struct {
    uint32_t magic, version;
    const void *data;
    const void *unused;
  } wrapper = {0x466243B1u, 1, fatbin, NULL};
  CHECK(graft_image_unwrap(&wrapper) == fatbin);
  CHECK(graft_image_unwrap(fatbin) == fatbin);
  CHECK(graft_image_size(".version 8.0\n") == 14);
  CHECK(graft_image_size("nonsense") == 0);
}

/* Whether the cache has this entry, which must be complete. */
static bool cached(const char *input, const char *options, const char *wanted) {
  void *entry, *data = NULL;
  uint32_t bytes = 0;
  CHECK(!graft_cache_open(&entry, 2, input, strlen(input), options, "HOST64", "today", 90));
  int r = graft_cache_load(entry, 0, &data, &bytes);
  bool as_wanted = wanted ? !r && bytes == strlen(wanted) && !memcmp(data, wanted, bytes) : r == GRAFT_NOT_FOUND;
  if (!r) graft_cache_release(data);
  graft_cache_close(entry);
  return as_wanted;
}

static void store(const char *input, const char *options, const char *data) {
  void *entry;
  CHECK(!graft_cache_open(&entry, 2, input, strlen(input), options, "HOST64", "today", 90));
  CHECK(!graft_cache_store(entry, 0, data, strlen(data)));
  graft_cache_close(entry);
}

/* Calls a function for each file, and returns their number. */
static int each_file(const char *folder, void (*call)(const char *path)) {
  char path[600];
  int count = 0;
  DIR *listing = opendir(folder);
  for (struct dirent *d; listing && (d = readdir(listing));) {
    if (d->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    if (call) call(path);
    count++;
  }
  if (listing) closedir(listing);
  return count;
}
static void spoil(const char *path) {
  FILE *file = fopen(path, "r+");
  fseek(file, -1, SEEK_END);
  fputc('!', file);
  fclose(file);
}
static void cut(const char *path) { CHECK(!truncate(path, 20)); }
static void delete (const char *path) { unlink(path); }
static void is_private(const char *path) {
  struct stat status;
  CHECK(!stat(path, &status) && (status.st_mode & 0777) == 0600);
}

static void compute_cache(void) {
  char folder[] = "/tmp/graft-cache-XXXXXX", files[64], inner[80];
  CHECK(mkdtemp(folder));
  snprintf(inner, sizeof inner, "%s/a/b", folder);
  snprintf(files, sizeof files, "%s/a/b/graft", folder);
  setenv("CUDA_CACHE_PATH", inner, 1);
  CHECK(cached("source", "-O3", NULL));
  store("source", "-O3", "binary");
  CHECK(cached("source", "-O3", "binary"));
  CHECK(cached("source", "-O2", NULL) && cached("sourc", "e-O3", NULL));
  store("source", "-O3", "another binary");
  CHECK(cached("source", "-O3", "another binary"));
  CHECK(each_file(files, is_private) == 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(cached("source", "-O3", NULL));
  store("more", "", "not kept");
  unsetenv("CUDA_CACHE_DISABLE");
  CHECK(each_file(files, spoil) == 1);
  CHECK(cached("source", "-O3", NULL));
  store("source", "-O3", "binary");
  each_file(files, cut);
  CHECK(cached("source", "-O3", NULL));
  /* The oldest entry is deleted when the cache is full. */
  setenv("CUDA_CACHE_MAXSIZE", "170", 1);
  store("one", "", "0123456789012345678901234567890");
  store("two", "", "0123456789012345678901234567890");
  store("three", "", "0123456789012345678901234567890");
  CHECK(each_file(files, NULL) == 2 && cached("three", "", "0123456789012345678901234567890"));
  setenv("CUDA_CACHE_MAXSIZE", "0", 1);
  store("four", "", "binary");
  CHECK(cached("four", "", NULL));
  unsetenv("CUDA_CACHE_MAXSIZE");
  each_file(files, delete);
  rmdir(files);
  rmdir(inner);
  snprintf(inner, sizeof inner, "%s/a", folder);
  rmdir(inner);
  rmdir(folder);
  /* Compilers work even if the cache can store nothing. */
  setenv("CUDA_CACHE_PATH", "/proc/none", 1);
  store("source", "", "binary");
  CHECK(cached("source", "", NULL));
  unsetenv("CUDA_CACHE_PATH");
}

static const struct graft_jit_target h200 = {9, 0, "GPU", "580"};

/* A fat binary with one entry of each kind and architecture. */
static size_t fatbin(uint8_t *out, int count, const int (*entries)[2]) {
  memset(out, 0, 1024);
  const uint32_t magic = 0xBA55ED50u;
  uint64_t bytes = (uint64_t)count * 80;
  memcpy(out, &magic, 4);
  out[4] = 1, out[6] = 16;
  memcpy(out + 8, &bytes, 8);
  for (int i = 0; i < count; i++) {
    uint8_t *entry = out + 16 + 80 * i;
    entry[0] = (uint8_t)entries[i][0];
    entry[4] = 64;
    entry[8] = 16;
    entry[28] = (uint8_t)entries[i][1];
  }
  return 16 + bytes;
}

static int compiled;
static int compile_error;
static int compile(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code, size_t *size) {
  compiled++;
  if (compile_error) return compile_error;
  *code = malloc(bytes + 1);
  memset(*code, 'C', bytes + 1);
  ((char *)*code)[0] = (char)type;
  *size = bytes + 1;
  return 0;
}

/* Whether there is code for the image, after this number of compilations. */
static bool gives(const char *image, const uint64_t *words, unsigned used, const struct graft_jit_target *target, bool code,
                  int times) {
  size_t size = 0;
  compiled = 0;
  char *found = graft_jit_code(image, strlen(image) + 1, words, used, target, compile, &size);
  bool right = !!found == code && compiled == times && (!found || (size == strlen(image) + 2 && found[0] == 1 && found[1] == 'C'));
  free(found);
  return right;
}

static void jit_types(void) {
  uint8_t image[1024];
  CHECK(graft_jit_type("// PTX, version 8", 18, &h200) == 1);
  CHECK(graft_jit_type(".version", 9, &h200) == -1);
  CHECK(graft_jit_type("\177ELF............", 20, &h200) == -1);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 80}, {1, 80}}), &h200) == 2);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 90}, {1, 90}}), &h200) == -1);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 86}, {1, 80}}), &(struct graft_jit_target){8, 0, "", ""}) == 2);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 80}, {1, 80}}), &(struct graft_jit_target){8, 6, "", ""}) ==
        -1);
  /* An unexpected entry is left to the driver, and nothing after it is read. */
  size_t bytes = fatbin(image, 2, (const int[][2]){{1, 80}, {1, 80}});
  uint8_t *exact = malloc(bytes);
  for (unsigned seed = 1; seed <= 20000; seed++) {
    unsigned state = seed;
    memcpy(exact, image, bytes);
    for (int i = 0; i < 8; i++) exact[4 + rand_r(&state) % (bytes - 4)] = (uint8_t)rand_r(&state);
    int type = graft_jit_type(exact, bytes, &h200);
    if (type != 2 && type != -1) CHECK(!"a type of its own");
  }
  free(exact);
}

static void jit_links(void) {
  struct graft_jit_key key, other;
  size_t size;
  graft_jit_key_start(&key, NULL, 0, &h200);
  graft_jit_key_add(&key, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&key) && !graft_jit_linked(&key, &size));
  graft_jit_inputs_keep(&key);
  CHECK(graft_jit_inputs_known(&key) && !graft_jit_linked(&key, &size));
  graft_jit_linked_keep(&key, "linked", 6);
  char *code = graft_jit_linked(&key, &size);
  CHECK(code && size == 6 && !memcmp(code, "linked", 6));
  free(code);
  const char *const names[] = {"a", "b", "a", "a"}, *const data[] = {"input", "input", "inpuT", "input"};
  const int types[] = {1, 1, 1, 2};
  for (int i = 0; i < 4; i++) {
    graft_jit_key_start(&other, NULL, 0, &h200);
    graft_jit_key_add(&other, types[i], names[i], data[i], 5);
    CHECK(graft_jit_inputs_known(&other) == (i == 0));
  }
  graft_jit_key_start(&other, (const uint64_t[]){7, 1}, 2, &h200);
  graft_jit_key_add(&other, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&other));
  graft_jit_key_add(&key, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&key)); /* the same input twice is another key */
}

static void jit_cache(void) {
  char folder[] = "/tmp/graft-cache-XXXXXX", files[64];
  CHECK(mkdtemp(folder));
  snprintf(files, sizeof files, "%s/graft", folder);
  setenv("CUDA_CACHE_PATH", folder, 1);
  const char *ptx = "// a program in PTX", *more = "// another program in PTX";
  CHECK(gives(ptx, NULL, 0, &h200, true, 1));
  CHECK(gives(ptx, NULL, 0, &h200, true, 0));
  CHECK(gives(more, NULL, 0, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 2}, 2, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 3}, 2, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 2}, 2, &h200, true, 0));
  CHECK(gives(ptx, (const uint64_t[]){1, 2}, 2, &h200, false, 0)); /* threads of a block: the result goes to the program's memory */
  CHECK(gives(ptx, NULL, 0, &(struct graft_jit_target){9, 0, "GPU", "590"}, true, 1));
  CHECK(gives(ptx, NULL, 0, &(struct graft_jit_target){8, 0, "GPU", "580"}, true, 1));
  CHECK(gives("an ELF, or something else", NULL, 0, &h200, false, 0));
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(gives(ptx, NULL, 0, &h200, false, 0));
  unsetenv("CUDA_CACHE_DISABLE");
  each_file(files, spoil);
  CHECK(gives(ptx, NULL, 0, &h200, true, 1));
  jit_links();
  compile_error = GRAFT_INVALID_VALUE;
  CHECK(gives("// not PTX after all", NULL, 0, &h200, false, 1));
  compile_error = GRAFT_NOT_SUPPORTED; /* the device cannot compile: the client does not ask again */
  CHECK(gives("// still not PTX, not at all", NULL, 0, &h200, false, 1));
  CHECK(gives("// still not PTX, not at all", NULL, 0, &h200, false, 0));
  each_file(files, delete);
  rmdir(files);
  rmdir(folder);
  unsetenv("CUDA_CACHE_PATH");
}

/* ---- Selecting code of a fat binary ---- */

/* A fat binary of these entries: 'p' for PTX, 'e' for machine code. */
static size_t fatbin_of(const char *entries, uint8_t *to) {
  size_t used = 16;
  for (; *entries; entries++, used += 24) {
    const uint32_t head[6] = {*entries == 'p' ? 1 : 2, 16, 8, 0, (uint8_t)*entries, 0};
    memcpy(to + used, head, sizeof head);
  }
  const uint64_t head[2] = {GRAFT_FATBIN_MAGIC | 1ull << 32 | 16ull << 48, used - 16};
  memcpy(to, head, sizeof head);
  return used;
}

static bool selects(const char *entries, bool without_ptx, const char *expected) {
  uint8_t image[256], room[256], wanted[256];
  size_t bytes = fatbin_of(entries, image), left = fatbin_of(expected, wanted);
  size_t got = graft_fatbin_select(image, bytes, without_ptx, room);
  return *expected ? got == left && !memcmp(room, wanted, left) : !got;
}

static void selection(void) {
  CHECK(selects("epe", true, "ee"));
  CHECK(selects("pp", true, ""));
  CHECK(selects("epe", false, "p"));
  CHECK(selects("ee", false, "ee"));
  uint8_t image[256], room[256];
  size_t bytes = fatbin_of("ep", image);
  for (size_t cut = 0; cut < bytes; cut++) { /* an image that is cut off; between two entries it is whole */
    size_t got = graft_fatbin_select(image, cut, true, room);
    CHECK(got <= cut);
  }
  for (size_t at = 0; at < bytes; at++) { /* and one with a damaged byte */
    uint8_t damaged[256];
    memcpy(damaged, image, bytes);
    damaged[at] = 0xff;
    CHECK(graft_fatbin_select(damaged, bytes, true, room) <= bytes);
  }
}

void test_module(void) {
  selection();
  images();
  compute_cache();
  jit_types();
  jit_cache();
}
