#include "api/work_times.h"

#include <stdlib.h>
#include <string.h>

#include "api/rpc.h"
#include "api/work.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "session/parts.h"
#include "session/session.h"

#define TRIES 5
#define CAPACITY (64u << 10)
#define ENTRY 96u
#define MOST_NAME 4096u
#define MOST_NAMES (1u << 14)
#define MOST_READS 4096
#define BUCKETS 1024u
/* Work is not later than this after the moment that it is measured from (11 days): a later time that a server tells is taken for this one. */
#define MOST_NANOSECONDS UINT64_C(1000000000000000)

static struct graft_time *known[BUCKETS]; /* by number */

bool graft_work_times_begin(struct graft_work_moment *moment) {
  moment->error = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t library, before = graft_now();
    if (rpc_graftProfile(1, &library)) return false;
    uint64_t error = (graft_now() - before) / 2;
    if (error >= moment->error) continue;
    *moment = (struct graft_work_moment){.library = library, .time = before + error, .error = error};
  }
  return true;
}

void graft_work_times_end(void) { rpc_graftProfile(0, NULL); }

uint64_t graft_work_time(const struct graft_work_moment *moment, uint64_t library) {
  if (library < moment->library) {
    uint64_t ago = moment->library - library;
    return ago < moment->time ? moment->time - ago : 0;
  }
  uint64_t later = library - moment->library;
  return moment->time + (later < MOST_NANOSECONDS ? later : MOST_NANOSECONDS);
}

/* ---- What the server says: checked before it is used ---- */

static uint32_t word(const uint8_t *at, size_t offset) {
  uint32_t value;
  memcpy(&value, at + offset, sizeof value);
  return value;
}

static uint64_t number(const uint8_t *at, size_t offset) {
  uint64_t value;
  memcpy(&value, at + offset, sizeof value);
  return value;
}

/* The name of an identity, which an entry brings or an earlier one has brought. */
static char *name_of(const uint8_t *entry, uint32_t length) {
  struct graft_work_names *names = &graft_parts(graft_session_current())->work_names;
  uint32_t identity = word(entry, 36);
  if (!identity || identity > MOST_NAMES) return NULL;
  if (!length) return identity <= names->count ? names->name[identity - 1] : NULL;
  if (identity > names->count) {
    char **more = realloc(names->name, identity * sizeof *more);
    if (!more) return NULL;
    memset(more + names->count, 0, (identity - names->count) * sizeof *more);
    names->name = more;
    names->count = identity;
  }
  free(names->name[identity - 1]);
  return names->name[identity - 1] = strndup((const char *)entry + ENTRY, length);
}

static bool is_time(const struct graft_time *time) {
  return time->start && time->start <= time->end && time->end < (uint64_t)INT64_MAX;
}

static void put(struct graft_time *time) {
  struct graft_time **at = &known[time->number % BUCKETS];
  while (*at && ((*at)->number != time->number || (*at)->start <= time->start)) at = &(*at)->next;
  time->next = *at;
  *at = time;
}

static void keep(const struct graft_time *time) {
  struct graft_time *kept = malloc(sizeof *kept);
  if (!kept) return;
  *kept = *time;
  kept->name = time->name ? strdup(time->name) : NULL; /* another entry may replace the name */
  put(kept);
}

/* Takes one entry. Returns its length, or 0 if it is none. */
static size_t take(const uint8_t *entry, size_t left) {
  if (left < ENTRY) return 0;
  size_t bytes = word(entry, 0);
  uint32_t length = word(entry, 88);
  if (bytes < ENTRY || bytes > left || bytes % 8 || length > bytes - ENTRY || length > MOST_NAME) return 0;
  struct graft_time time = {
      .number = word(entry, 4),
      .start = number(entry, 8),
      .end = number(entry, 16),
      .bytes = number(entry, 24),
      .kind = word(entry, 32),
      .name = name_of(entry, length),
      .grid = {word(entry, 40), word(entry, 44), word(entry, 48)},
      .block = {word(entry, 52), word(entry, 56), word(entry, 60)},
      .static_shared = word(entry, 64),
      .shared = word(entry, 68),
      .local = word(entry, 72),
      .registers = (uint16_t)word(entry, 76),
      .value = word(entry, 80),
      .from = entry[84],
      .to = entry[85],
  };
  if (is_time(&time) && time.kind >= GRAFT_TIME_COPY && time.kind <= GRAFT_TIME_KERNEL) keep(&time);
  return bytes;
}

size_t graft_work_times_add(const uint8_t *data, size_t bytes, uint32_t count) {
  size_t at = 0, entry;
  for (uint32_t i = 0; i < count && (entry = take(data + at, bytes - at)); i++) at += entry;
  return at;
}

void graft_work_times_read(void) {
  static uint8_t data[CAPACITY];
  for (int i = 0; i < MOST_READS; i++) {
    uint64_t lost = 0;
    uint32_t count = 0;
    if (rpc_graftProfileRead(data, CAPACITY, &count, &lost)) return;
    size_t taken = graft_work_times_add(data, CAPACITY, count);
    if (lost) graft_say("the server's profiling library has lost %llu records of work", (unsigned long long)lost);
    if (CAPACITY - taken > ENTRY + MOST_NAME) return; /* there was room for more */
  }
}

size_t graft_work_times_count(uint32_t number) {
  size_t count = 0;
  for (const struct graft_time *time = known[number % BUCKETS]; time; time = time->next) count += time->number == number;
  return count;
}

struct graft_time *graft_work_times_take(uint32_t number) {
  struct graft_time *taken = NULL, **last = &taken;
  for (struct graft_time **at = &known[number % BUCKETS]; *at;) {
    struct graft_time *time = *at;
    if (time->number != number) {
      at = &time->next;
      continue;
    }
    *at = time->next;
    time->next = NULL;
    *last = time;
    last = &time->next;
  }
  return taken;
}

void graft_work_times_give_back(struct graft_time *times) {
  while (times) {
    struct graft_time *next = times->next;
    put(times);
    times = next;
  }
}

void graft_work_times_free(struct graft_time *times) {
  while (times) {
    struct graft_time *next = times->next;
    free(times->name);
    free(times);
    times = next;
  }
}

void graft_work_times_forget(void) {
  for (size_t i = 0; i < BUCKETS; i++) {
    graft_work_times_free(known[i]);
    known[i] = NULL;
  }
}

void graft_work_piece(const struct graft_time *time, const struct graft_work_moment *moment, struct graft_work *piece) {
  static const enum graft_work_kind kinds[] = {
      [GRAFT_TIME_COPY] = GRAFT_WORK_COPY, [GRAFT_TIME_FILL] = GRAFT_WORK_FILL, [GRAFT_TIME_KERNEL] = GRAFT_WORK_KERNEL};
  piece->kind = kinds[time->kind];
  piece->name = time->name;
  piece->bytes = time->bytes;
  piece->from = time->from;
  piece->to = time->to;
  piece->value = time->value;
  memcpy(piece->grid, time->grid, sizeof piece->grid);
  memcpy(piece->block, time->block, sizeof piece->block);
  piece->shared = time->shared;
  piece->static_shared = time->static_shared;
  piece->local = time->local;
  piece->registers = time->registers;
  piece->start = graft_work_time(moment, time->start);
  piece->end = graft_work_time(moment, time->end);
  piece->error = moment->error;
}
