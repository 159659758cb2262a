/* Merging of single bytes, so that what the program and the device write to parts of one page or word is kept. A mask has one bit for each byte, and so one byte for each word of 8 bytes. */
#ifndef GRAFT_MERGE_H
#define GRAFT_MERGE_H

#include <stddef.h>
#include <stdint.h>

#define GRAFT_WORD 8u

/* Sets the mask's bits where two blocks of memory differ. All differences are in the words from *first up to the result, which is 0 if there are none. */
size_t graft_merge_mask(const uint8_t *now, const uint8_t *before, size_t bytes, uint8_t *mask, size_t *first);
/* Writes the marked bytes of whole words. The other bytes keep their values, even if another thread or a device writes them at the same time. The marked bytes of a word are written in one step. The target is aligned to words. */
void graft_merge(uint8_t *to, const uint8_t *from, const uint8_t *mask, size_t words);
/* Finds the next run of bytes from *at on that have changed in theirs and not in ours. Returns its length, 0 if there is none. */
size_t graft_merge_run(const uint8_t *theirs, const uint8_t *ours, const uint8_t *before, size_t bytes, size_t *at);
/* Takes the bytes that have changed in theirs into ours and into what was before, but for those that have changed in ours. Writes no other byte of ours, since another thread may write it at the same time. */
void graft_merge_take(uint8_t *ours, uint8_t *before, const uint8_t *theirs, size_t bytes);

#endif
