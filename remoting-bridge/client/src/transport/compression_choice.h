/* Whether the next block of a stream is to be compressed. The choice follows from what was measured on this connection: how fast it takes
 * what is sent, how fast zstd is here, and how much smaller it makes the data. It has no clock of its own. */
#ifndef GRAFT_COMPRESSION_CHOICE_H
#define GRAFT_COMPRESSION_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_compression_choice {
  bool always;      /* by the setting, and not by what is measured */
  double rate;      /* the bytes that the connection takes in a second; 0 if it is faster than compression, or nothing is known */
  bool is_fast;     /* it has taken much at once */
  int slow;         /* how often sending had to wait for it lately */
  size_t run_bytes; /* what was sent since it had to wait last, and in which time */
  double run_seconds;
  size_t bytes;                  /* the measurement under way: bytes that were sent */
  uint64_t sending, compressing; /* nanoseconds */
  uint64_t last;                 /* when something was sent last */
  size_t skip, pause;            /* bytes until compression is tried again; how many there were after the last useless try */
  size_t plain;                  /* the length of the last block that was not compressed */
};

/* With the nanoseconds that the server took to answer a greeting. */
void graft_compression_choose(struct graft_compression_choice *choice, bool always, uint64_t greeting_nanoseconds);
/* How many of these bytes are to be compressed as one block; 0 if they are to be sent as they are. */
size_t graft_compression_block(const struct graft_compression_choice *choice, size_t bytes);
/* The length of the next block that is not compressed, which the bytes at hand are the beginning of, or all. */
size_t graft_compression_plain(struct graft_compression_choice *choice, size_t bytes);
/* Takes note that a block was compressed; "to" is 0 if it did not become smaller. */
void graft_compression_tried(struct graft_compression_choice *choice, size_t from, size_t to, uint64_t nanoseconds);
/* Takes note that the connection has taken bytes, from "begun" to "now". */
void graft_compression_sent(struct graft_compression_choice *choice, size_t bytes, uint64_t begun, uint64_t now);

#endif
