#include "memory/merge.h"

#include <stdbool.h>
#include <string.h>

static uint64_t word_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

size_t graft_merge_mask(const uint8_t *now, const uint8_t *before, size_t bytes, uint8_t *mask, size_t *first) {
  size_t end = 0;
  for (size_t at = 0, word = 0; at < bytes; at += GRAFT_WORD, word++) {
    size_t have = bytes - at < GRAFT_WORD ? bytes - at : GRAFT_WORD;
    mask[word] = 0;
    if (have == GRAFT_WORD && word_at(now + at) == word_at(before + at)) continue;
    for (size_t i = 0; i < have; i++) {
      if (now[at + i] != before[at + i]) mask[word] = (uint8_t)(mask[word] | 1u << i);
    }
    if (!mask[word]) continue;
    if (!end) *first = word;
    end = word + 1;
  }
  return end;
}

/* Makes a byte of ones of each bit of a mask's byte. */
static uint64_t spread(uint8_t mask) {
  uint64_t bytes = 0;
  for (int i = 0; i < 8; i++) {
    if (mask & 1u << i) bytes |= 0xffull << 8 * i;
  }
  return bytes;
}

void graft_merge(uint8_t *to, const uint8_t *from, const uint8_t *mask, size_t words) {
  for (size_t i = 0; i < words; i++) {
    if (!mask[i]) continue;
    uint64_t *word = (uint64_t *)(void *)(to + i * GRAFT_WORD), wanted = word_at(from + i * GRAFT_WORD);
    if (mask[i] == 0xff) {
      __atomic_store_n(word, wanted, __ATOMIC_RELAXED);
      continue;
    }
    uint64_t bytes = spread(mask[i]), before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
    do {
      after = (before & ~bytes) | (wanted & bytes);
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

/* Whether no byte of two words is equal: a byte of zeros borrows from the bit above it. */
static bool differs_everywhere(uint64_t one, uint64_t other) {
  uint64_t difference = one ^ other;
  return !((difference - 0x0101010101010101u) & ~difference & 0x8080808080808080u);
}

size_t graft_merge_run(const uint8_t *theirs, const uint8_t *ours, const uint8_t *before, size_t bytes, size_t *at) {
  size_t start = *at;
  while (start < bytes && (theirs[start] == before[start] || ours[start] != before[start])) {
    bool word = bytes - start >= GRAFT_WORD && word_at(theirs + start) == word_at(before + start);
    start += word ? GRAFT_WORD : 1;
  }
  size_t end = start;
  while (end < bytes && theirs[end] != before[end] && ours[end] == before[end]) {
    bool word = bytes - end >= GRAFT_WORD && differs_everywhere(word_at(theirs + end), word_at(before + end)) &&
                word_at(ours + end) == word_at(before + end);
    end += word ? GRAFT_WORD : 1;
  }
  *at = start;
  return end - start;
}

void graft_merge_take(uint8_t *ours, uint8_t *before, const uint8_t *theirs, size_t bytes) {
  for (size_t at = 0; at < bytes; at += GRAFT_WORD) {
    size_t have = bytes - at < GRAFT_WORD ? bytes - at : GRAFT_WORD;
    if (have == GRAFT_WORD) {
      uint64_t wanted = word_at(theirs + at), was = word_at(before + at);
      if (wanted == was) continue;
      if (word_at(ours + at) == was && differs_everywhere(wanted, was)) {
        memcpy(ours + at, &wanted, sizeof wanted);
        memcpy(before + at, &wanted, sizeof wanted);
        continue;
      }
    }
    for (size_t i = at; i < at + have; i++) {
      if (theirs[i] != before[i] && ours[i] == before[i]) ours[i] = before[i] = theirs[i];
    }
  }
}
