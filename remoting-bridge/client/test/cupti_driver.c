/* A libcuda.so.1 that has Graft's table for libcupti alone, for test/cupti.c, which tells it what the program queues. */
#include <string.h>

#include "api/work.h"

#define EXPORT __attribute__((visibility("default")))

static const struct graft_work_listener *listener;
static int flushes;

static void listen_to(int who, const struct graft_work_listener *to) { listener = to; }
static void flush(uint64_t nanoseconds) { flushes++; }
static int device(void *context) { return context ? 3 : -1; }

EXPORT const struct graft_work_listener *test_listener(void) { return listener; }
EXPORT int test_flushes(void) { return flushes; }

EXPORT int cuGetExportTable(const void **table, const void *id) {
  static const void *slots[GRAFT_WORK_SLOTS] = {(void *)sizeof slots, (void *)listen_to, (void *)flush, (void *)device};
  static const char name[16] = GRAFT_WORK_TABLE;
  if (memcmp(id, name, sizeof name)) return 500;
  *table = slots;
  return 0;
}
