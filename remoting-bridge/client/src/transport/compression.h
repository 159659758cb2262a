#ifndef GRAFT_COMPRESSION_H
#define GRAFT_COMPRESSION_H

#include <stdint.h>

struct graft_config;
struct graft_connection;
struct graft_session_key;

/* Has what is sent on a new connection go in blocks (blocks.h), which are compressed where that is faster. Does nothing if the connection is
 * not one of TCP, if the server's worker does not understand blocks, if this machine has no zstd, and if the configuration forbids it. */
void graft_compress(struct graft_connection *connection, const struct graft_config *config, const struct graft_session_key *key);

/* How many bytes the connection takes in a second, as far as that is measured: 0 if it is faster than compression, or nothing is known yet;
 * negative if the connection is not one that is measured. Any thread may ask. */
double graft_compression_rate(const struct graft_connection *connection);

/* What the process has compressed so far: bytes before and after. */
void graft_compressed(uint64_t *from, uint64_t *to);

#endif
