/* CUDA programming guide, "CUDA Environment Variables": CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. */
#include "api/visible.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NONE (-1)

/* Sorts ordinals by the devices' places on the PCI bus. */
static void sort_by_place(const struct graft_identity *all, int count, int *ordinals) {
  for (int i = 1; i < count; i++) {
    int moved = ordinals[i], to = i;
    const struct graft_identity *a = &all[moved];
    for (; to > 0; to--) {
      const struct graft_identity *b = &all[ordinals[to - 1]];
      int order = b->domain != a->domain ? b->domain - a->domain : b->bus != a->bus ? b->bus - a->bus : b->slot - a->slot;
      if (order <= 0) break;
      ordinals[to] = ordinals[to - 1];
    }
    ordinals[to] = moved;
  }
}

/* The device whose UUID begins with this text, as nvidia-smi -L prints it: NONE if there is none or more than one. */
static int by_uuid(const struct graft_identity *all, int count, const char *text, size_t length) {
  int found = NONE;
  for (int i = 0; i < count; i++) {
    const uint8_t *u = all[i].uuid;
    char name[64];
    snprintf(name, sizeof name, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             all[i].instance ? "MIG" : "GPU", u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
             u[13], u[14], u[15]);
    if (length > strlen(name) || strncasecmp(name, text, length)) continue;
    if (found != NONE) return NONE;
    found = i;
  }
  return found;
}

/* One entry of the list, without white space around it: the position among the ordered devices, NONE if it names no device. */
static int entry(const struct graft_identity *all, int count, const int *ordered, const char *text, size_t length) {
  if (!strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4)) return by_uuid(all, count, text, length);
  char *end;
  long index = strtol(text, &end, 10);
  return end != text && index >= 0 && index < count ? ordered[index] : NONE;
}

int graft_visible(const struct graft_identity *all, int count, const char *visible, const char *order, int *ordinals) {
  int *ordered = malloc(sizeof *ordered * (size_t)(count ? count : 1)), used = 0;
  if (!ordered) return 0;
  for (int i = 0; i < count; i++) ordered[i] = i;
  if (order && !strcmp(order, "PCI_BUS_ID")) sort_by_place(all, count, ordered);
  if (!visible) {
    memcpy(ordinals, ordered, sizeof *ordered * (size_t)count);
    free(ordered);
    return count;
  }
  /* The first entry that names no device ends the list; a device that is named twice makes the whole list void. */
  for (const char *at = visible;; at++) {
    at += strspn(at, " \t");
    size_t length = strcspn(at, ",");
    const char *next = at + length;
    while (length && isspace((unsigned char)at[length - 1])) length--;
    int device = length ? entry(all, count, ordered, at, length) : NONE;
    if (device == NONE) break;
    bool twice = false;
    for (int i = 0; i < used; i++) twice |= ordinals[i] == device;
    if (twice) {
      used = 0;
      break;
    }
    ordinals[used++] = device;
    at = next;
    if (!*at) break;
  }
  free(ordered);
  return used;
}
