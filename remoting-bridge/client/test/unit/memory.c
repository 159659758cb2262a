/* Ranges, reads under way, taken pages, merging, parts that queued work uses. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "memory/merge.h"
#include "memory/paging.h"
#include "memory/pending.h"
#include "memory/ranges.h"
#include "session/reads.h"
#include "unit.h"

/* The ranges table: neighbours, ends, replacement, removal by kind. */
static void ranges(void) {
  struct graft_range found;
  graft_range_add(&(struct graft_range){.base = 1000, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE});
  graft_range_add(&(struct graft_range){.base = 1100, .bytes = 50, .memory = GRAFT_MEMORY_PINNED});
  graft_range_add(&(struct graft_range){.base = 500, .bytes = 10, .memory = GRAFT_MEMORY_DEVICE});
  CHECK(!graft_range_find(999, &found));
  CHECK(graft_range_find(1000, &found) && found.bytes == 100);
  CHECK(graft_range_find(1099, &found) && found.base == 1000);
  CHECK(graft_range_find(1100, &found) && found.memory == GRAFT_MEMORY_PINNED);
  CHECK(!graft_range_find(1150, &found));
  CHECK(!graft_range_remove(1100, GRAFT_MEMORY_DEVICE, NULL));
  CHECK(graft_range_remove(1100, GRAFT_MEMORY_PINNED, &found) && found.bytes == 50);
  CHECK(!graft_range_find(1100, &found));
  /* Device memory takes the place of device memory that is no more, but not that of a graph or of the host. */
  graft_range_add(&(struct graft_range){.base = 2000, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE});
  graft_range_add(&(struct graft_range){.base = 2300, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE});
  graft_range_add(&(struct graft_range){.base = 2400, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE, .of_graph = true});
  graft_range_add(&(struct graft_range){.base = 2550, .bytes = 10, .memory = GRAFT_MEMORY_PINNED});
  graft_range_add(&(struct graft_range){.base = 2050, .bytes = 450, .memory = GRAFT_MEMORY_DEVICE});
  CHECK(!graft_range_find(2000, &found));
  CHECK(graft_range_find(2399, &found) && found.base == 2050);
  CHECK(graft_range_find(2400, &found) && found.of_graph);
  graft_range_add(&(struct graft_range){.base = 2500, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE});
  CHECK(graft_range_find(2555, &found) && found.memory == GRAFT_MEMORY_PINNED);
  CHECK(graft_range_find(2300, &found) && found.base == 2050);
  for (uint64_t i = 0; i < 1000; i++) {
    graft_range_add(&(struct graft_range){.base = 10000 + 16 * ((i * 7919) % 1000), .bytes = 16, .memory = GRAFT_MEMORY_DEVICE});
  }
  bool all = true;
  for (uint64_t i = 0; i < 16000; i++) all = all && graft_range_find(10000 + i, &found) && found.base == 10000 + i / 16 * 16;
  CHECK(all);
}

/* Random reads, compared with a search of all reads. */
static void reads(void) {
  static struct graft_read all[64];
  static struct graft_reads list;
  static uint8_t memory[256];
  bool there[64] = {false}, same = true;
  size_t count = 0;
  uint32_t random = 1;
  for (int step = 0; step < 20000; step++) {
    random = random * 1664525u + 1013904223u;
    int i = random >> 26, but = random >> 20 & 63;
    if (there[i]) {
      graft_reads_remove(&list, &all[i]);
      count--;
    } else {
      /* Identities are unique. Those that are 1024 apart share a bucket. */
      all[i] = (struct graft_read){.identity = (uint64_t)i << 10, .to = memory + (random >> 12 & 127), .bytes = random >> 8 & 15};
      graft_reads_add(&list, &all[i]);
      count++;
    }
    there[i] = !there[i];
    const uint8_t *from = there[but] ? all[but].to : memory + (random >> 4 & 127);
    size_t bytes = there[but] ? all[but].bytes : 1 + (random & 15);
    bool any = false, other = false;
    for (int n = 0; n < 64; n++) {
      bool meets = there[n] && all[n].to < from + bytes && from < all[n].to + all[n].bytes;
      any = any || meets;
      other = other || (meets && n != but);
      same = same && (graft_reads_find(&list, (uint64_t)n << 10) == &all[n]) == there[n];
    }
    same = same && graft_reads_count(&list) == count && (!bytes || graft_reads_meet(&list, NULL, from, bytes) == any);
    if (there[but] && bytes) same = same && graft_reads_meet(&list, &all[but], from, bytes) == other;
    if (!same) break;
  }
  CHECK(same);
  for (int i = 0; i < 64; i++) {
    if (there[i]) graft_reads_remove(&list, &all[i]);
  }
  CHECK(!graft_reads_count(&list) && !graft_reads_meet(&list, NULL, memory, sizeof memory));
}

/* Pages that are taken: the program's changes are in the taken pages, and a thread that accesses a page gets the contents put there. */
static struct {
  uint8_t *memory;
  uint8_t page[4096];
  int asked, waited;
} paged;

static bool paged_at_once(uint64_t address, pid_t thread) {
  if (thread == gettid() || address < (uintptr_t)paged.memory || address >= (uintptr_t)paged.memory + 8192) abort();
  __atomic_add_fetch(&paged.asked, 1, __ATOMIC_SEQ_CST);
  if (address >= (uintptr_t)paged.memory + 4096) return false;
  graft_paging_put(paged.memory, paged.page, 4096);
  return true;
}

static void paged_touched(uint64_t address) {
  __atomic_add_fetch(&paged.waited, 1, __ATOMIC_SEQ_CST);
  graft_paging_put((void *)(uintptr_t)(address / 4096 * 4096), paged.page, 4096);
}

static void paging(void) {
  paged.memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(paged.page, 9, sizeof paged.page);
  if (!graft_paging_start(paged_at_once, paged_touched)) return; /* it has printed the reason */
  paged.memory[0] = 1;
  paged.memory[5000] = 2;
  CHECK(graft_paging_watch(paged.memory, 8192));
  CHECK(paged.memory[0] == 1 && !__atomic_load_n(&paged.asked, __ATOMIC_SEQ_CST));
  uint8_t *taken = graft_paging_take(paged.memory, 8192);
  CHECK(taken && taken[0] == 1 && taken[5000] == 2);
  if (!taken) return;
  munmap(taken, 8192);
  CHECK(paged.memory[7] == 9 && __atomic_load_n(&paged.asked, __ATOMIC_SEQ_CST) == 1);
  CHECK(paged.memory[5000] == 9 && __atomic_load_n(&paged.waited, __ATOMIC_SEQ_CST) == 1);
  paged.memory[5000] = 3;
  graft_paging_put(paged.memory, paged.page, 4096); /* a page that is there keeps its contents */
  taken = graft_paging_take(paged.memory, 8192);
  CHECK(taken && taken[7] == 9 && taken[5000] == 3);
  munmap(taken, 8192);
  munmap(paged.memory, 8192);
}

/* Changes are found byte by byte, and the bytes beside them keep their values. */
static void merging(void) {
  _Alignas(8) uint8_t now[40], before[40], target[40], mask[5];
  size_t first = 99;
  memset(before, 7, sizeof before);
  memcpy(now, before, sizeof now);
  CHECK(!graft_merge_mask(now, before, sizeof now, mask, &first) && !mask[0] && !mask[4]);
  now[9] = 1;
  now[15] = 2;
  memset(now + 24, 3, 8);
  CHECK(graft_merge_mask(now, before, sizeof now, mask, &first) == 4 && first == 1);
  CHECK(!mask[0] && mask[1] == 0x82 && !mask[2] && mask[3] == 0xff && !mask[4]);
  memset(target, 50, sizeof target);
  graft_merge(target, now, mask, 5);
  CHECK(target[8] == 50 && target[9] == 1 && target[14] == 50 && target[15] == 2 && target[24] == 3 && target[31] == 3 &&
        target[32] == 50);
  /* The last word may be incomplete. */
  CHECK(!graft_merge_mask(now, before, 9, mask, &first));
  CHECK(graft_merge_mask(now, before, 10, mask, &first) == 2 && mask[1] == 2);
  /* The changes in theirs that are not also changed in ours. */
  uint8_t theirs[40], ours[40];
  size_t at = 0;
  memcpy(theirs, before, sizeof theirs);
  memcpy(ours, before, sizeof ours);
  CHECK(!graft_merge_run(theirs, ours, before, sizeof ours, &at));
  memset(theirs + 5, 9, 10);
  ours[8] = 1;
  at = 0;
  CHECK(graft_merge_run(theirs, ours, before, sizeof ours, &at) == 3 && at == 5);
  at += 3;
  CHECK(graft_merge_run(theirs, ours, before, sizeof ours, &at) == 6 && at == 9);
  at += 6;
  CHECK(!graft_merge_run(theirs, ours, before, sizeof ours, &at));
}

static char contexts[GRAFT_MOST_PENDING + 8];
static struct graft_object *context(int i) { return (struct graft_object *)(void *)&contexts[i]; }

static void end_of(struct graft_pending *pending, int of, uint64_t stream, uint64_t work) {
  graft_pending_end(pending, &(struct graft_over){context(of), stream, work});
}

static void behind(void) {
  struct graft_behind behind = {0};
  for (unsigned i = 0; i < GRAFT_MOST_BEHIND; i++) graft_behind_add(&behind, (struct graft_over){context(0), i, 10 + i});
  graft_behind_add(&behind, (struct graft_over){context(0), 3, 30});
  graft_behind_add(&behind, (struct graft_over){context(0), 3, 20}); /* earlier */
  CHECK(behind.count == GRAFT_MOST_BEHIND && behind.over[3].work == 30);
  graft_behind_add(&behind, (struct graft_over){context(1), 3, 9}); /* no room */
  CHECK(behind.over[0].context == context(0) && behind.over[0].work == 10);
  graft_behind_add(&behind, (struct graft_over){context(1), 3, 40}); /* in the place of the earliest */
  CHECK(behind.count == GRAFT_MOST_BEHIND && behind.over[0].context == context(1) && behind.over[0].stream == 3 &&
        behind.over[0].work == 40);
}

static void pending_parts(void) {
  static struct graft_pending pending;
  size_t from, to;
  CHECK(!graft_pending_next(&pending, false, 0, &from, &to));
  graft_pending_add(&pending, (struct graft_pending_part){10, 20, true, 1, 5, context(0)});
  graft_pending_add(&pending, (struct graft_pending_part){20, 30, true, 2, 5, context(0)}); /* grows the first */
  graft_pending_add(&pending, (struct graft_pending_part){25, 40, false, 3, 6, context(0)});
  graft_pending_add(&pending, (struct graft_pending_part){50, 50, true, 4, 6, context(0)}); /* empty */
  CHECK(pending.count == 2);
  CHECK(graft_pending_next(&pending, true, 0, &from, &to) && from == 10 && to == 30);
  CHECK(graft_pending_next(&pending, false, 0, &from, &to) && from == 10 && to == 40 &&
        !graft_pending_next(&pending, false, to, &from, &to));
  CHECK(graft_pending_written(&pending, 29, 31) && !graft_pending_written(&pending, 30, 50) &&
        !graft_pending_written(&pending, 0, 10));
  end_of(&pending, 0, 5, 1); /* not the second work */
  end_of(&pending, 1, 5, 9);
  end_of(&pending, 0, 7, 9);
  graft_pending_end(&pending, &(struct graft_over){0});
  CHECK(pending.count == 2);
  end_of(&pending, 0, 5, 2);
  CHECK(!graft_pending_written(&pending, 0, 100) && graft_pending_next(&pending, false, 0, &from, &to) && from == 25 && to == 40);
  end_of(&pending, 0, GRAFT_ANY_STREAM, 3);
  CHECK(!pending.count);
  /* A stream whose id another one has got. */
  graft_pending_add(&pending, (struct graft_pending_part){10, 20, true, 1, 2, context(0)});
  graft_pending_rename(&pending, 2);
  end_of(&pending, 0, 2, 1);
  CHECK(pending.count == 1);
  end_of(&pending, 0, GRAFT_ANY_STREAM, 1);
  CHECK(!pending.count);
  /* Without a number: ended by any wait. */
  graft_pending_add(&pending, (struct graft_pending_part){.to = 9, .is_written = true});
  end_of(&pending, 1, 3, 0);
  CHECK(!pending.count);
  /* More contexts than parts are kept. */
  for (unsigned i = 0; i < sizeof contexts; i++) {
    graft_pending_add(&pending, (struct graft_pending_part){10 * (size_t)i, 10 * (size_t)i + 5, true, i + 1, 1, context((int)i)});
  }
  CHECK(graft_pending_next(&pending, true, 0, &from, &to) && from == 0 &&
        graft_pending_written(&pending, 10 * sizeof contexts - 6, 4000));
  end_of(&pending, 0, GRAFT_ANY_STREAM, 100);
  CHECK(graft_pending_written(&pending, 0, 1) && graft_pending_written(&pending, 10, 11));
  pending.count = 0;
}

/* Random work against a record of each: no byte is forgotten that work may still use, and none is left when all work is over. */
static void pending_work(void) {
  enum { BYTES = 4000, UNITS = 400 };
  static struct graft_pending pending;
  static struct graft_pending_part units[UNITS];
  static bool used[2][BYTES], kept[2][BYTES];
  uint64_t seed = (uint64_t)getpid() * 2654435761u;
  bool right = true, is_full = false;
  for (int round = 0; round < 8; round++) {
    for (unsigned i = 0; i < UNITS; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      unsigned random = (unsigned)(seed >> 33), of = random >> 4 & 1, stream = random >> 5 & 3;
      size_t at = (random >> 7) % (BYTES - 20);
      units[i] = (struct graft_pending_part){at, at + 1 + random % 20, random >> 29 & 1, i + 1, stream, context((int)of)};
      graft_pending_add(&pending, units[i]);
      is_full |= pending.count == GRAFT_MOST_PENDING;
      if (random % 37 == 0) {
        struct graft_over over = {context((int)of), random & 64 ? GRAFT_ANY_STREAM : stream, i};
        graft_pending_end(&pending, &over);
        for (unsigned k = 0; k <= i; k++) {
          bool is_of_stream = over.stream == GRAFT_ANY_STREAM || over.stream == units[k].stream;
          if (units[k].context == over.context && is_of_stream && units[k].work <= over.work) units[k].to = units[k].from;
        }
      }
      memset(used, 0, sizeof used);
      memset(kept, 0, sizeof kept);
      for (unsigned k = 0; k <= i; k++) {
        for (size_t b = units[k].from; b < units[k].to; b++) used[0][b] = true;
        for (size_t b = units[k].from; units[k].is_written && b < units[k].to; b++) used[1][b] = true;
      }
      for (int written = 0; written < 2; written++) {
        for (size_t from, to = 0, last = 0; graft_pending_next(&pending, written, to, &from, &to); last = to) {
          right &= from < to && (!last || from > last);
          memset(&kept[written][from], true, to - from);
        }
        for (size_t b = 0; b < BYTES; b++) right &= kept[written][b] || !used[written][b];
        for (size_t b = 0; written && b < BYTES; b++) right &= !!graft_pending_written(&pending, b, b + 1) == kept[1][b];
      }
    }
    end_of(&pending, 0, GRAFT_ANY_STREAM, UNITS);
    end_of(&pending, 1, GRAFT_ANY_STREAM, UNITS);
    right &= !pending.count;
  }
  CHECK(right);
  CHECK(is_full);
}

/* Runs of random changes, and what is taken of them, which are dense, sparse or overlap the program's, against a comparison byte by byte. */
static void merged_runs(void) {
  enum { BYTES = 203 };
  uint8_t theirs[BYTES], ours[BYTES], before[BYTES];
  unsigned seed = (unsigned)getpid();
  bool right = true;
  for (int round = 0; round < 3000; round++) {
    unsigned dense = (unsigned)rand_r(&seed) % 100;
    for (int i = 0; i < BYTES; i++) {
      before[i] = (uint8_t)rand_r(&seed);
      theirs[i] = (unsigned)rand_r(&seed) % 100 < dense ? (uint8_t)(before[i] + rand_r(&seed)) : before[i];
      ours[i] = rand_r(&seed) % 40 ? before[i] : (uint8_t)rand_r(&seed);
    }
    bool in_run[BYTES] = {false};
    for (size_t run = 0, length, last = 0; (length = graft_merge_run(theirs, ours, before, BYTES, &run)); last = run += length) {
      right &= !last || run > last;
      for (size_t i = 0; i < length && run + i < BYTES; i++) in_run[run + i] = true;
    }
    for (int i = 0; i < BYTES; i++) right &= in_run[i] == (theirs[i] != before[i] && ours[i] == before[i]);
    uint8_t merged[BYTES], known[BYTES];
    memcpy(merged, ours, BYTES);
    memcpy(known, before, BYTES);
    graft_merge_take(merged, known, theirs, BYTES);
    for (int i = 0; i < BYTES; i++) {
      right &= merged[i] == (in_run[i] ? theirs[i] : ours[i]) && known[i] == (in_run[i] ? theirs[i] : before[i]);
    }
  }
  CHECK(right);
}

void test_memory(void) {
  merged_runs();
  behind();
  pending_parts();
  pending_work();
  ranges();
  reads();
  paging();
  merging();
}
