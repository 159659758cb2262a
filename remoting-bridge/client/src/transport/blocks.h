/* A stream in blocks, some of which are compressed: what a client sends on a TCP connection, if the welcome of its session says that the
 * server's worker understands it. The stream begins with eight bytes that no other stream begins with. Each block has a header.
 *
 * The receiving end (blocks.c) is the worker's, as a part of libgraft-transport.so. It takes streams without blocks, too. The sending
 * end is the client's (compression.c).
 */
#ifndef GRAFT_BLOCKS_H
#define GRAFT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GRAFT_BLOCKS_API __attribute__((visibility("default")))
#define GRAFT_BLOCKS_BEGIN "GRAFTBK1" /* as a record's size, or as the number of a transfer, this would be too large */
#define GRAFT_BLOCKS_BEGIN_BYTES 8
#define GRAFT_BLOCK_MOST (256u << 10)      /* the stream's bytes in a compressed block */
#define GRAFT_PLAIN_BLOCK_MOST (16u << 20) /* in another */

/* Little-endian. A block that is not compressed may be sent piece by piece, so that a long one costs nothing. Each compressed block is
 * a frame of zstd of its own (RFC 8878), and smaller than what it holds. */
struct graft_block_head {
  uint32_t bytes;  /* of the stream */
  uint32_t packed; /* the bytes that follow, if they are compressed; else 0, and "bytes" follow */
};

struct graft_tls;
struct graft_blocks;

/* Whether this machine can decompress. False with a reason that names the package. */
GRAFT_BLOCKS_API bool graft_blocks_present(char *reason, size_t size);
/* Receives from a socket, or from TLS on it unless that is NULL. NULL without memory. */
GRAFT_BLOCKS_API struct graft_blocks *graft_blocks_open(int fd, struct graft_tls *tls);
/* Receives what has arrived of the stream, as recv(2) with MSG_DONTWAIT: -1 with EPROTO if a block is wrong, which graft_blocks_reason
 * describes. One thread at a time may receive. */
GRAFT_BLOCKS_API ssize_t graft_blocks_try(struct graft_blocks *blocks, void *to, size_t bytes);
/* The same, and waits for at least one byte. */
GRAFT_BLOCKS_API ssize_t graft_blocks_receive(struct graft_blocks *blocks, void *to, size_t bytes);
/* What was wrong with the stream; empty if nothing was. */
GRAFT_BLOCKS_API const char *graft_blocks_reason(const struct graft_blocks *blocks);
/* Socket and TLS stay the caller's. NULL is allowed. */
GRAFT_BLOCKS_API void graft_blocks_close(struct graft_blocks *blocks);

#endif
