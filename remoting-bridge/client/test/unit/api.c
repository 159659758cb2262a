/* Tests of src/api: which devices a program sees. */
#include "api/visible.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define DEVICES 4

/* Four GPUs, the last in MIG mode; the server's order is not that of their places on the bus. */
static void fill(struct graft_identity all[DEVICES]) {
  memset(all, 0, DEVICES * sizeof *all);
  for (int i = 0; i < DEVICES; i++) {
    memset(all[i].uuid, 0x11 * (i + 1), sizeof all[i].uuid);
    all[i].bus = 0x40 - i;
  }
  memcpy(all[1].uuid, all[0].uuid, 8); /* the first two differ behind the first digits */
  all[3].instance = true;
}

/* The program's devices as digits: "20" if it sees the third and then the first. */
static const char *seen(const char *visible, const char *order) {
  static char digits[DEVICES + 1];
  struct graft_identity all[DEVICES];
  int ordinals[DEVICES];
  fill(all);
  int count = graft_visible(all, DEVICES, visible, order, ordinals);
  for (int i = 0; i < count; i++) digits[i] = (char)('0' + ordinals[i]);
  digits[count] = 0;
  return digits;
}
#define SEES(visible, expected) CHECK(!strcmp(seen(visible, NULL), expected))

static void indices(void) {
  SEES(NULL, "0123");
  SEES("", "");
  SEES("-1", "");
  SEES("2", "2");
  SEES("2,0", "20");
  SEES(" 2 , 0 ", "20");
  SEES("0,2,-1,1", "02");
  SEES("0,4,1", "0");
  SEES("0,,1", "0");
  SEES(",0", "");
  SEES("0,x", "0");
  SEES("99999999999999999999,0", "");
  SEES("0,0", "");
  SEES("1,2,1", "");
}

static void names(void) {
  SEES("GPU-33333333-3333-3333-3333-333333333333", "2");
  SEES("gpu-33333333", "");
  SEES("GPU-3333", "2");
  SEES("GPU-33333333-3333-3333-3333-3333333333333", "");
  SEES("GPU-11111111", ""); /* two begin so */
  SEES("GPU-11111111-1111-1111-2222", "1");
  SEES("2,GPU-11111111-1111-1111-1111", "20");
  SEES("GPU-3333,2", "");
  SEES("MIG-44444444-4444-4444-4444-444444444444", "3");
  SEES("GPU-4444", "");
  SEES("MIG-3333", "");
  SEES("MIG-GPU-33333333-3333-3333-3333-333333333333/1/0", "");
  SEES("GPU-", "");
}

static void order(void) {
  CHECK(!strcmp(seen(NULL, "PCI_BUS_ID"), "3210"));
  CHECK(!strcmp(seen("0,3", "PCI_BUS_ID"), "30"));
  CHECK(!strcmp(seen(NULL, "FASTEST_FIRST"), "0123"));
  CHECK(!strcmp(seen("GPU-3333", "PCI_BUS_ID"), "2"));
}

static void none(void) {
  int ordinals[1];
  CHECK(graft_visible(NULL, 0, "0", NULL, ordinals) == 0);
  CHECK(graft_visible(NULL, 0, NULL, "PCI_BUS_ID", ordinals) == 0);
}

void test_api(void) {
  indices();
  names();
  order();
  none();
}
