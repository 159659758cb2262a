/* Bytes that have changed, told apart from their neighbours: what the program and the device write to parts of one page, or
 * of one word, must both stay. A mask has a bit for each byte, and so a byte for each word of eight. */
#ifndef GRAFT_MERGE_H
#define GRAFT_MERGE_H

#include <stddef.h>
#include <stdint.h>

#define GRAFT_WORD 8u

/* Marks where two memories of so many bytes differ; the mask ends with its last word. The words from *first up to the result
 * have all the differences; the result is 0 if there are none. */
size_t graft_merge_mask(const uint8_t *now, const uint8_t *before, size_t bytes, uint8_t *mask, size_t *first);
/* Writes the marked bytes of whole words and leaves the others as they are, also where another thread or a device writes those
 * at the same time. What is marked of a word appears at once. to begins at a word. */
void graft_merge(uint8_t *to, const uint8_t *from, const uint8_t *mask, size_t words);
/* The next run of bytes from *at on that theirs has changed and ours has not; its length, 0 if there is none. */
size_t graft_merge_run(const uint8_t *theirs, const uint8_t *ours, const uint8_t *before, size_t bytes, size_t *at);

#endif
