/* Writes a pattern into memory of every kind, or counts how much of it new memory of every kind holds.
 *
 * usage: pattern write|search WORD MEGABYTES
 *
 * WORD is the pattern, 16 hexadecimal digits, and MEGABYTES the most device memory to use, 0 for all. "write" prints what it has
 * written and waits for the end of standard input, so that it can be killed with all its memory in use. "search" allocates as much, writes
 * nothing, and prints the number of bytes that are the pattern. Each line is: KIND MEGABYTES BYTES-FOUND; "write" finds
 * what it reads back of its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
int cuMemcpyHtoA_v2(void *array, size_t offset, const void *from, size_t bytes);
int cuMemcpyAtoH_v2(void *to, void *array, size_t offset, size_t bytes);
int cuArrayCreate_v2(void **array, const void *descriptor);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

#define MIB ((size_t)1 << 20)
#define TILE (16 * MIB)
#define SHARED_WORDS 6144 /* 48 KiB of shared memory, in words of 8 bytes */

/* "mark" fills the shared memory of a block with a word; "count" counts the words in shared memory that nobody has written. */
static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry mark(.param .u64 word, .param .u64 out) {\n"
    "  .reg .u64 %d<4>; .reg .u32 %r<6>; .reg .pred %p;\n"
    "  .shared .align 8 .b8 area[49152];\n"
    "  ld.param.u64 %d1, [word]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r4, area;\n"
    "again: setp.ge.u32 %p, %r1, 6144; @%p bra done;\n"
    "  mad.lo.u32 %r3, %r1, 8, %r4; st.volatile.shared.u64 [%r3], %d1; add.u32 %r1, %r1, %r2; bra again;\n"
    "done: ret;\n}\n"
    ".visible .entry count(.param .u64 word, .param .u64 out) {\n"
    "  .reg .u64 %d<4>; .reg .u32 %r<6>; .reg .pred %p;\n"
    "  .shared .align 8 .b8 area[49152];\n"
    "  ld.param.u64 %d1, [word]; ld.param.u64 %d3, [out];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r4, area;\n"
    "again: setp.ge.u32 %p, %r1, 6144; @%p bra done;\n"
    "  mad.lo.u32 %r3, %r1, 8, %r4; ld.volatile.shared.u64 %d2, [%r3]; add.u32 %r1, %r1, %r2;\n"
    "  setp.ne.u64 %p, %d2, %d1; @%p bra again; mov.u32 %r5, 1; red.global.add.u32 [%d3], %r5; bra again;\n"
    "done: ret;\n}\n";

static uint64_t word;
static uint64_t *tile;
static int writes, limited;

static void fill(void) {
  for (size_t i = 0; i < TILE / 8; i++) tile[i] = word;
}

/* The number of bytes of the tile that are the pattern. Nothing stays in the tile. */
static size_t found(size_t bytes) {
  size_t words = 0;
  for (size_t i = 0; i < bytes / 8; i++) words += tile[i] == word;
  memset(tile, 0, bytes);
  return words * 8;
}

static void report(const char *kind, size_t bytes, size_t hits) {
  printf("%s %zu %zu\n", kind, bytes / MIB, hits);
}

/* Writes the memory and reads its end back, or searches it. */
static size_t use_pointer(uint64_t at, size_t bytes) {
  size_t hits = 0;
  for (size_t done = 0; done < bytes; done += TILE) {
    size_t part = bytes - done < TILE ? bytes - done : TILE;
    if (writes && done) {
      cuMemcpyDtoD_v2(at + done, at, part);
    } else if (writes) {
      fill();
      cuMemcpyHtoD_v2(at, tile, part);
    } else if (!cuMemcpyDtoH_v2(tile, at + done, part)) {
      hits += found(part);
    }
  }
  if (writes && !cuMemcpyDtoH_v2(tile, at + bytes - TILE, TILE)) hits = found(TILE);
  return hits;
}

/* Allocates in pieces until the device has no more, and less is left for each further kind of memory. */
static void pieces(const char *kind, size_t most, int (*allocate)(uint64_t *, size_t)) {
  size_t all = 0, hits = 0;
  for (size_t piece = 256 * MIB; piece >= TILE; piece /= 4) {
    uint64_t at;
    while (all + piece <= most && !allocate(&at, piece)) {
      hits += use_pointer(at, piece);
      all += piece;
    }
  }
  report(kind, all, hits);
}

static int from_pool(uint64_t *at, size_t bytes) {
  return cuMemAllocAsync(at, bytes, NULL);
}

static int managed(uint64_t *at, size_t bytes) {
  return cuMemAllocManaged(at, bytes, 1);
}

static void pinned(size_t bytes) {
  void *memory;
  size_t all = 0, hits = 0;
  while (all < bytes && !cuMemHostAlloc(&memory, TILE, 0)) {
    uint64_t *words = memory;
    for (size_t i = 0; i < TILE / 8; i++) {
      if (writes) words[i] = word;
      else hits += words[i] == word ? 8 : 0;
    }
    all += TILE;
  }
  report("pinned", all, hits);
}

static void arrays(size_t bytes) {
  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } one = {TILE / 16, 0, 3 /* 32-bit unsigned */, 4};
  if (one.width > 65536) one.width = 65536; /* 1 MiB: wider arrays of one dimension are not allowed everywhere */
  size_t size = one.width * 16, all = 0, hits = 0;
  void *array;
  while (all < bytes && !cuArrayCreate_v2(&array, &one)) {
    if (writes) {
      fill();
      cuMemcpyHtoA_v2(array, 0, tile, size);
    } else if (!cuMemcpyAtoH_v2(tile, array, 0, size)) {
      hits += found(size);
    }
    all += size;
  }
  report("array", all, hits);
}

static void shared_memory(void) {
  void *module, *function;
  uint64_t out = 0;
  unsigned hits = 0, blocks = limited ? 64 : 2048; /* the software device is slow */
  if (cuModuleLoadData(&module, PTX) || cuModuleGetFunction(&function, module, writes ? "mark" : "count") || cuMemAlloc_v2(&out, 64)) {
    printf("shared - cannot-run\n");
    return;
  }
  cuMemsetD32_v2(out, 0, 16);
  void *parameters[] = {&word, &out};
  int error = cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL);
  if (!error) error = cuCtxSynchronize();
  if (!error && !writes) error = cuMemcpyDtoH_v2(&hits, out, 4);
  if (error) printf("shared - error-%d\n", error);
  else report("shared", (size_t)blocks * SHARED_WORDS * 8, (size_t)hits * 8);
}

int main(int argc, char **argv) {
  void *context;
  if (argc != 4) {
    fprintf(stderr, "usage: pattern write|search WORD MEGABYTES\n");
    return 2;
  }
  writes = !strcmp(argv[1], "write");
  word = strtoull(argv[2], NULL, 16);
  size_t most = strtoull(argv[3], NULL, 10) * MIB;
  int error = cuInit(0);
  if (!error) error = cuDevicePrimaryCtxRetain(&context, 0);
  if (!error) error = cuCtxSetCurrent(context);
  if (error || !(tile = calloc(1, TILE))) {
    fprintf(stderr, "pattern: no device: error %d\n", error);
    return 1;
  }
  limited = most && most < 1024 * MIB;
  size_t part = most ? most / 4 / TILE * TILE : 1024 * MIB;
  shared_memory();
  pinned(part < 256 * MIB ? part : 256 * MIB);
  arrays(part < 256 * MIB ? part : 256 * MIB);
  pieces("managed", part, managed);
  pieces("pool", part, from_pool);
  pieces("device", most ? most : SIZE_MAX / 2, cuMemAlloc_v2);
  error = cuCtxSynchronize();
  printf("%s %d\n", writes ? "written" : "searched", error);
  fflush(stdout);
  char end;
  if (writes && read(0, &end, 1) < 0) return 1;
  return error != 0;
}
