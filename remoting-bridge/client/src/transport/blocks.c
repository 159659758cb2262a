/* The receiving end of a stream in blocks. What it receives is a client's, who may be hostile: a block claims how long it is, and neither
 * more memory than one block needs is used, nor more bytes are written than that. */
#include "transport/blocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/tls.h"
#include "transport/zstd_library.h"

_Static_assert(sizeof(struct graft_block_head) == GRAFT_BLOCKS_BEGIN_BYTES, "a stream's beginning and headers are received alike");

enum state {
  BEGINS,  /* the first eight bytes say whether the stream is one of blocks */
  OTHER,   /* it is not */
  HEAD,    /* a header comes */
  PLAIN,   /* "left" bytes of the stream come */
  PACKED,  /* "left" bytes of a compressed block come */
  IS_WRONG /* nothing more is received */
};

struct graft_blocks {
  int fd;
  struct graft_tls *tls;
  enum state state;
  size_t left;
  size_t have; /* bytes of a header, or of the stream's beginning */
  union {
    uint8_t bytes[sizeof(struct graft_block_head)];
    struct graft_block_head head;
  } begun;
  /* What was taken from the socket and not yet from here: the beginning of another stream, or a block's contents. */
  const uint8_t *ready;
  size_t ready_bytes;
  /* Made for the first compressed block. */
  const struct graft_zstd_library *zstd;
  ZSTD_DCtx *context;
  uint8_t *packed, *plain; /* GRAFT_BLOCK_MOST bytes each */
  char reason[160];
};

bool graft_blocks_present(char *reason, size_t size) { return graft_zstd_library(reason, size); }

struct graft_blocks *graft_blocks_open(int fd, struct graft_tls *tls) {
  struct graft_blocks *b = calloc(1, sizeof *b);
  if (b) {
    b->fd = fd;
    b->tls = tls;
  }
  return b;
}

const char *graft_blocks_reason(const struct graft_blocks *b) { return b->reason; }

void graft_blocks_close(struct graft_blocks *b) {
  if (!b) return;
  if (b->context) b->zstd->ZSTD_freeDCtx(b->context);
  free(b->packed);
  free(b->plain);
  free(b);
}

static ssize_t receive(struct graft_blocks *b, void *to, size_t bytes, int flags) {
  if (!b->tls) return recv(b->fd, to, bytes, flags);
  return flags ? graft_tls_try(b->tls, to, bytes) : graft_tls_receive(b->tls, to, bytes);
}

/* The stream's first bytes have arrived. */
static void begin(struct graft_blocks *b) {
  bool are_blocks = !memcmp(b->begun.bytes, GRAFT_BLOCKS_BEGIN, GRAFT_BLOCKS_BEGIN_BYTES);
  b->state = are_blocks ? HEAD : OTHER;
  if (!are_blocks) {
    b->ready = b->begun.bytes;
    b->ready_bytes = b->have;
  }
  b->have = 0;
}

static bool prepare(struct graft_blocks *b) {
  if (b->context) return true;
  b->zstd = graft_zstd_library(b->reason, sizeof b->reason);
  if (!b->zstd) return false;
  if (!b->packed) b->packed = malloc(GRAFT_BLOCK_MOST);
  if (!b->plain) b->plain = malloc(GRAFT_BLOCK_MOST);
  b->context = b->packed && b->plain ? b->zstd->ZSTD_createDCtx() : NULL;
  if (!b->context) snprintf(b->reason, sizeof b->reason, "no memory to decompress a block");
  return b->context;
}

/* A header has arrived. */
static void take_head(struct graft_blocks *b) {
  struct graft_block_head head = b->begun.head;
  b->have = 0;
  b->state = IS_WRONG;
  if (head.packed && (head.bytes > GRAFT_BLOCK_MOST || head.packed >= head.bytes)) {
    snprintf(b->reason, sizeof b->reason,
             "a compressed block of %u bytes for %u; it must hold %u at most, and be smaller than what it holds", head.packed,
             head.bytes, GRAFT_BLOCK_MOST);
  } else if (head.packed) {
    b->left = head.packed;
    if (prepare(b)) b->state = PACKED;
  } else if (!head.bytes || head.bytes > GRAFT_PLAIN_BLOCK_MOST) {
    snprintf(b->reason, sizeof b->reason, "a block of %u bytes; it must have 1 to %u", head.bytes, GRAFT_PLAIN_BLOCK_MOST);
  } else {
    b->left = head.bytes;
    b->state = PLAIN;
  }
}

/* All of a compressed block has arrived. */
static void unpack(struct graft_blocks *b) {
  struct graft_block_head head = b->begun.head;
  size_t n = b->zstd->ZSTD_decompressDCtx(b->context, b->plain, head.bytes, b->packed, head.packed);
  if (b->zstd->ZSTD_isError(n) || n != head.bytes) {
    b->state = IS_WRONG;
    snprintf(b->reason, sizeof b->reason, "a compressed block of %u bytes does not hold the %u that it claims", head.packed,
             head.bytes);
    return;
  }
  b->state = HEAD;
  b->ready = b->plain;
  b->ready_bytes = n;
}

/* Receives more of what is no part of the stream itself: its beginning, a header or a compressed block. As recv(2). */
static ssize_t gather(struct graft_blocks *b, int flags) {
  bool is_packed = b->state == PACKED;
  uint8_t *to = is_packed ? b->packed + (b->begun.head.packed - b->left) : b->begun.bytes + b->have;
  size_t wanted = is_packed ? b->left : sizeof b->begun - b->have;
  ssize_t n = receive(b, to, wanted, flags);
  if (!n && (is_packed || b->have)) {
    bool begins = b->state == BEGINS;
    snprintf(b->reason, sizeof b->reason, "the stream ends %s", begins ? "as it begins" : "in the middle of a block");
    b->state = IS_WRONG;
  }
  if (n <= 0) return n;
  if (is_packed) {
    b->left -= (size_t)n;
    if (!b->left) unpack(b);
    return n;
  }
  b->have += (size_t)n;
  if (b->have < sizeof b->begun) return n;
  if (b->state == BEGINS) {
    begin(b);
  } else {
    take_head(b);
  }
  return n;
}

static ssize_t take(struct graft_blocks *b, uint8_t *to, size_t bytes, int flags) {
  size_t done = 0;
  while (done < bytes) {
    ssize_t n;
    int wait = done ? MSG_DONTWAIT : flags;
    if (b->ready_bytes) {
      size_t part = b->ready_bytes < bytes - done ? b->ready_bytes : bytes - done;
      memcpy(to + done, b->ready, part);
      b->ready += part;
      b->ready_bytes -= part;
      done += part;
    } else if (b->state == OTHER || b->state == PLAIN) {
      size_t wanted = b->state == PLAIN && b->left < bytes - done ? b->left : bytes - done;
      n = receive(b, to + done, wanted, wait);
      if (n <= 0) return done ? (ssize_t)done : n;
      done += (size_t)n;
      if (b->state == PLAIN && !(b->left -= (size_t)n)) b->state = HEAD;
      if ((size_t)n < wanted) return (ssize_t)done; /* asking for more would cost a call, and nothing is there */
    } else if (b->state == IS_WRONG) {
      errno = EPROTO;
      return done ? (ssize_t)done : -1; /* the error comes again at the next call */
    } else if ((n = gather(b, wait)) <= 0 && b->state != IS_WRONG) {
      return done ? (ssize_t)done : n;
    }
  }
  return (ssize_t)done;
}

ssize_t graft_blocks_try(struct graft_blocks *b, void *to, size_t bytes) { return take(b, to, bytes, MSG_DONTWAIT); }

ssize_t graft_blocks_receive(struct graft_blocks *b, void *to, size_t bytes) { return take(b, to, bytes, 0); }
