#include "transport/compression_choice.h"

#include "transport/blocks.h"

/* A server whose answer to the greeting took this long is far away, or busy. */
#define FAR_NANOSECONDS 10000000u
/* What TCP sends on a new connection before an answer (RFC 6928). */
#define FIRST_WINDOW 14480.0
/* A connection that takes so many bytes a second is faster than compressing. */
#define FAST 500e6
/* A measurement ends with so many bytes, or after so long with at least a few of them. */
#define MEASURED (1u << 20)
#define MEASURED_LEAST (64u << 10)
#define MEASURED_NANOSECONDS 20000000u
/* A single wait may be that of a busy machine. */
#define SLOW 2
/* More than the buffers of the kernel hold on the way to a slow connection. */
#define BUFFERED (8u << 20)
/* After so long without sending, buffers may have emptied. */
#define GAP_NANOSECONDS 5000000u
/* Compressing must take less time than this part of what sending takes. */
#define GAIN 0.95
/* Smaller blocks are not worth a call. */
#define LEAST 512u
/* The first block after a useless try is small. */
#define TRIAL (64u << 10)
#define FIRST_PAUSE (512u << 10)
#define LONGEST_PAUSE (16u << 20)
#define FIRST_PLAIN (64u << 10)
#define LONGEST_PLAIN (1u << 20)
#define LONGEST_PLAIN_IF_FAST (8u << 20)

_Static_assert(LONGEST_PLAIN_IF_FAST <= GRAFT_PLAIN_BLOCK_MOST && LONGEST_PAUSE <= GRAFT_PLAIN_BLOCK_MOST,
               "blocks have a largest size");

void graft_compression_choose(struct graft_compression_choice *c, bool always, uint64_t greeting_nanoseconds) {
  bool is_far = greeting_nanoseconds >= FAR_NANOSECONDS;
  *c = (struct graft_compression_choice){.always = always, .rate = is_far ? FIRST_WINDOW * 1e9 / (double)greeting_nanoseconds : 0};
}

size_t graft_compression_block(const struct graft_compression_choice *c, size_t bytes) {
  if (bytes < LEAST || (!c->always && (c->rate <= 0 || c->skip))) return 0;
  size_t most = c->pause ? TRIAL : GRAFT_BLOCK_MOST;
  return bytes < most ? bytes : most;
}

size_t graft_compression_plain(struct graft_compression_choice *c, size_t bytes) {
  if (c->always || c->rate > 0) {
    size_t block = bytes < LONGEST_PLAIN ? bytes : LONGEST_PLAIN;
    c->skip -= block < c->skip ? block : c->skip;
    return block;
  }
  /* Nothing is to be compressed soon. A long block costs nothing, but the next choice is made at its end. */
  c->plain = !c->plain ? FIRST_PLAIN : c->plain < LONGEST_PLAIN ? 2 * c->plain : LONGEST_PLAIN;
  if (c->is_fast) c->plain = LONGEST_PLAIN_IF_FAST;
  return c->plain;
}

void graft_compression_tried(struct graft_compression_choice *c, size_t from, size_t to, uint64_t nanoseconds) {
  c->compressing += nanoseconds;
  if (c->always) return;
  /* While a block is compressed, the connection carries the one before it. */
  double plain = (double)from / c->rate, packed = (double)(to ? to : from) / c->rate, work = (double)nanoseconds / 1e9;
  if ((packed > work ? packed : work) < GAIN * plain) {
    c->pause = 0;
  } else if (from >= TRIAL) { /* a few records say little about the data to come */
    c->pause = !c->pause ? FIRST_PAUSE : c->pause < LONGEST_PAUSE ? 2 * c->pause : LONGEST_PAUSE;
    c->skip = c->pause;
  }
}

/* A measurement has ended. */
static void judge(struct graft_compression_choice *c) {
  double seconds = (double)(c->sending + c->compressing) / 1e9;
  /* If the time was spent compressing, the connection is at least as fast as that, and maybe faster. */
  bool waits = c->sending * 4 >= c->compressing && (double)c->bytes < FAST * seconds;
  c->run_bytes += c->bytes;
  c->run_seconds += seconds;
  if (waits && (double)c->run_bytes < FAST * c->run_seconds) {
    /* The kernel lets a thread that waits go on when a third of its buffer is empty, which then takes much at once. */
    c->is_fast = false;
    if (++c->slow >= SLOW || c->rate > 0) c->rate = (double)c->run_bytes / c->run_seconds;
    c->run_bytes = 0;
    c->run_seconds = 0;
  } else if (c->run_bytes >= BUFFERED) {
    c->is_fast = true;
    c->slow = 0;
    c->rate = 0;
    c->run_bytes = 0;
    c->run_seconds = 0;
  }
  c->plain = c->rate > 0 ? 0 : c->plain;
  c->bytes = 0;
  c->sending = c->compressing = 0;
}

void graft_compression_sent(struct graft_compression_choice *c, size_t bytes, uint64_t begun, uint64_t now) {
  if (begun > c->last + GAP_NANOSECONDS + c->compressing) {
    c->run_bytes = c->bytes = 0;
    c->run_seconds = 0;
    c->sending = 0;
  }
  c->last = now;
  c->bytes += bytes;
  c->sending += now - begun;
  if (c->bytes >= MEASURED || (c->bytes >= MEASURED_LEAST && c->sending >= MEASURED_NANOSECONDS)) judge(c);
}
