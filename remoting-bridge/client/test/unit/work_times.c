/* api/work_times.c with answers of a server, right ones and others. */
#include "api/work_times.h"

#include <stdlib.h>
#include <string.h>

#include "api/work.h"
#include "unit.h"

enum { ENTRY = 96, BYTES = 0, NUMBER = 4, START = 8, END = 16, COUNT = 24, KIND = 32, NAME = 36, LENGTH = 88 };

static uint8_t answer[8192];

static void put(size_t at, uint32_t value) { memcpy(answer + at, &value, sizeof value); }
static void put_long(size_t at, uint64_t value) { memcpy(answer + at, &value, sizeof value); }

/* Puts an entry, of a kernel if there is an identity. Returns where it ends. */
static size_t entry(size_t at, uint32_t number, uint64_t start, uint32_t identity, const char *name) {
  size_t length = name ? strlen(name) : 0, bytes = ENTRY + (length + 7) / 8 * 8;
  memset(answer + at, 0, bytes);
  put(at + BYTES, (uint32_t)bytes);
  put(at + NUMBER, number);
  put_long(at + START, start);
  put_long(at + END, start + 10);
  put_long(at + COUNT, 64);
  put(at + KIND, identity ? GRAFT_TIME_KERNEL : GRAFT_TIME_COPY);
  put(at + NAME, identity);
  put(at + LENGTH, (uint32_t)length);
  if (name) memcpy(answer + at + ENTRY, name, length);
  return at + bytes;
}

static void entries_are_found_by_number(void) {
  size_t at = entry(0, 7, 2000, 1, "second");
  at = entry(at, 8, 1500, 0, NULL);
  at = entry(at, 7, 1000, 2, "first");
  at = entry(at, 7, 3000, 1, NULL);
  CHECK(graft_work_times_add(answer, sizeof answer, 4) == at);
  CHECK(graft_work_times_count(7) == 3 && graft_work_times_count(8) == 1 && !graft_work_times_count(9));
  struct graft_time *times = graft_work_times_take(7);
  CHECK(times && times->start == 1000 && !strcmp(times->name, "first"));
  CHECK(times->next && times->next->start == 2000 && !strcmp(times->next->name, "second"));
  CHECK(times->next->next && !strcmp(times->next->next->name, "second") && !times->next->next->next);
  graft_work_times_give_back(times);
  CHECK(graft_work_times_count(7) == 3);
  times = graft_work_times_take(7);
  CHECK(times && times->next && times->start <= times->next->start);
  graft_work_times_free(times);
  CHECK(!graft_work_times_count(7) && !graft_work_times_take(7));
  struct graft_work piece = {.correlation = 8};
  struct graft_work_moment moment = {.library = 2000, .time = 1000000, .error = 5};
  times = graft_work_times_take(8);
  graft_work_piece(times, &moment, &piece);
  CHECK(piece.kind == GRAFT_WORK_COPY && piece.bytes == 64 && piece.start == 999500 && piece.end == 999510 && piece.error == 5);
  graft_work_times_free(times);
}

/* How much is taken of one entry in which a word is another. */
static size_t taken_with(size_t at, uint32_t value) {
  entry(0, 7, 1000, 1, "name");
  put(at, value);
  return graft_work_times_add(answer, sizeof answer, 1);
}

static void wrong_entries_are_not_taken(void) {
  size_t right = ENTRY + 8;
  CHECK(taken_with(NUMBER, 7) == right && graft_work_times_count(7) == 1);
  graft_work_times_forget();
  CHECK(!graft_work_times_count(7));
  CHECK(!taken_with(BYTES, 0) && !taken_with(BYTES, 95) && !taken_with(BYTES, 99) && !taken_with(BYTES, 0x7ffffff8));
  CHECK(!taken_with(LENGTH, 9) && !taken_with(LENGTH, UINT32_MAX));
  CHECK(taken_with(KIND, 0) == right && taken_with(KIND, 4) == right && taken_with(KIND, UINT32_MAX) == right);
  CHECK(taken_with(START + 4, 1) == right); /* it ends before it begins */
  CHECK(!graft_work_times_count(7));
  CHECK(taken_with(NAME, UINT32_MAX) == right && taken_with(NAME, 0) == right && graft_work_times_count(7) == 2);
  graft_work_times_forget();
  entry(0, 7, 1000, 1, "name");
  CHECK(!graft_work_times_add(answer, ENTRY, 1) && !graft_work_times_add(answer, 0, 1));
  entry(0, 7, 1000, 300, NULL); /* nobody has said that name */
  CHECK(graft_work_times_add(answer, sizeof answer, 1) == ENTRY);
  struct graft_time *times = graft_work_times_take(7);
  CHECK(times && !times->name);
  graft_work_times_free(times);
}

static void any_bytes_are_read_safely(void) {
  for (int round = 0; round < 20000; round++) {
    size_t at = 0;
    uint8_t *exact;
    for (int i = 0; i < 3; i++) at = entry(at, 7, 1000, (uint32_t)rand() % 4, rand() % 2 ? "a name of some length" : NULL);
    for (int i = rand() % 4; i >= 0; i--) {
      size_t where = (size_t)rand() % at;
      answer[where] = (uint8_t)rand();
    }
    size_t bytes = (size_t)rand() % (at + 1);
    exact = malloc(bytes ? bytes : 1); /* so that the sanitizer sees a read behind it */
    memcpy(exact, answer, bytes);
    if (graft_work_times_add(exact, bytes, (uint32_t)rand() % 5) > bytes) CHECK(false);
    free(exact);
    graft_work_times_forget();
  }
}

static void times_stay_within_reason(void) {
  struct graft_work_moment moment = {.library = UINT64_C(1) << 62, .time = 5000};
  CHECK(graft_work_time(&moment, moment.library) == 5000);
  CHECK(graft_work_time(&moment, moment.library + 7) == 5007 && graft_work_time(&moment, moment.library - 7) == 4993);
  CHECK(!graft_work_time(&moment, moment.library - 5001) && !graft_work_time(&moment, 0));
  CHECK(graft_work_time(&moment, INT64_MAX) == 5000 + UINT64_C(1000000000000000));
}

void test_work_times(void) {
  times_stay_within_reason();
  entries_are_found_by_number();
  wrong_entries_are_not_taken();
  any_bytes_are_read_safely();
}
