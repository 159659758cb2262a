/* Compresses what the client sends on TCP connections, below the records and above TLS. The connection's transport stays what it is, except
 * for what sends. */
#include "transport/compression.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/config.h"
#include "base/system.h"
#include "transport/blocks.h"
#include "transport/compression_choice.h"
#include "transport/connect.h"
#include "transport/dial.h"
#include "transport/transport.h"
#include "transport/zstd_library.h"

/* zstd's fastest ordinary level: 64 KiB take some 0.2 ms. */
#define LEVEL 1
/* A block that becomes larger than this part of its data is sent as it is. */
#define SMALLER(bytes) ((bytes) - (bytes) / 16)
/* Pieces that are sent in less time than this are too small to say how fast the connection is. */
#define MEASURED_LEAST (16u << 10)
/* So many bytes are sent at once until the connection is known to be fast, so that it is noticed soon that it is slow. */
#define PIECE (256u << 10)

/* A thread that waits longer may wait for the network. */
#define WAIT_NANOSECONDS 1000000u

struct compression {
  struct graft_transport transport; /* the connection's, with another "send" and "close" */
  const struct graft_transport *below;
  bool has_begun;
  size_t left; /* bytes of a block that is not compressed, which are still to be sent */
  struct graft_compression_choice choice;
  double rate;           /* as that of the choice, for other threads; atomic */
  bool is_far;           /* by the greeting */
  uint64_t network_took; /* microseconds until now; where the server is near */
  const struct graft_zstd_library *zstd;
  ZSTD_CCtx *context; /* made for the first block that is compressed */
  uint8_t *packed;    /* room for the stream's beginning, a header and a block */
};

static uint64_t compressed_from, compressed_to;

void graft_compressed(uint64_t *from, uint64_t *to) {
  *from = __atomic_load_n(&compressed_from, __ATOMIC_RELAXED);
  *to = __atomic_load_n(&compressed_to, __ATOMIC_RELAXED);
}

static bool send_all(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  const struct compression *c = connection->state;
  for (size_t done = 0; done < bytes;) {
    ssize_t n = c->below->send(connection, (const uint8_t *)data + done, bytes - done, more);
    if (n <= 0 && !(n < 0 && errno == EINTR)) return false;
    if (n > 0) done += (size_t)n;
  }
  return true;
}

/* Writes a header, and the stream's beginning before the first one. Returns how many bytes these are. */
static size_t put_head(struct compression *c, uint8_t *to, struct graft_block_head head) {
  size_t bytes = c->has_begun ? 0 : GRAFT_BLOCKS_BEGIN_BYTES;
  memcpy(to, GRAFT_BLOCKS_BEGIN, bytes);
  memcpy(to + bytes, &head, sizeof head);
  c->has_begun = true;
  return bytes + sizeof head;
}

#define HEADS (GRAFT_BLOCKS_BEGIN_BYTES + sizeof(struct graft_block_head))

/* What is needed to compress. Without memory for it the stream goes on as it is. */
static bool prepare(struct compression *c) {
  if (!c->packed) c->packed = malloc(HEADS + GRAFT_BLOCK_MOST);
  if (c->packed && !c->context) c->context = c->zstd->ZSTD_createCCtx();
  return c->context;
}

/* Compresses a block behind the place of its header. Returns 0 if it does not become smaller. */
static size_t pack(struct compression *c, const void *data, size_t bytes) {
  if (!prepare(c)) return 0;
  uint64_t begun = graft_now();
  size_t n = c->zstd->ZSTD_compressCCtx(c->context, c->packed + HEADS, SMALLER(bytes), data, bytes, LEVEL);
  if (c->zstd->ZSTD_isError(n)) n = 0;
  graft_compression_tried(&c->choice, bytes, n, graft_now() - begun);
  return n;
}

/* Takes note that a send has ended. A thread may wait because the network is slow, or because the machines are busy: the server does not receive, or
 * this thread got no processor. Where the server is near, only that time counts in which data was on the network and the server's machine had room
 * for more, as the kernel says. If it does not say so (before Linux 4.10), nothing counts. A server that is far away may be behind a relay
 * that holds back what it receives, as a slow network does. */
static void note(const struct graft_connection *connection, size_t bytes, uint64_t begun) {
  struct compression *c = connection->state;
  uint64_t took = graft_now() - begun;
  if (!c->is_far && took >= WAIT_NANOSECONDS) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    bool says = !getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) &&
                size >= offsetof(struct tcp_info, tcpi_rwnd_limited) + sizeof info.tcpi_rwnd_limited;
    uint64_t network = says ? info.tcpi_busy_time - info.tcpi_rwnd_limited : 0, more = (network - c->network_took) * 1000;
    c->network_took = network;
    if (more < took) took = more;
  }
  graft_compression_sent(&c->choice, bytes, begun, begun + took);
  __atomic_store(&c->rate, &c->choice.rate, __ATOMIC_RELAXED);
}

static ssize_t send_packed(const struct graft_connection *connection, size_t bytes, size_t packed, bool more) {
  struct compression *c = connection->state;
  size_t heads = c->has_begun ? sizeof(struct graft_block_head) : HEADS;
  uint8_t *start = c->packed + HEADS - heads;
  put_head(c, start, (struct graft_block_head){(uint32_t)bytes, (uint32_t)packed});
  uint64_t begun = graft_now();
  if (!send_all(connection, start, heads + packed, more)) return -1;
  note(connection, heads + packed, begun);
  __atomic_fetch_add(&compressed_from, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&compressed_to, packed, __ATOMIC_RELAXED);
  return (ssize_t)bytes;
}

/* As the operation "send". An error in the middle of a block ends the connection, as any other does. */
static ssize_t send_blocks(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  struct compression *c = connection->state;
  if (!c->left) {
    size_t block = graft_compression_block(&c->choice, bytes);
    size_t packed = block ? pack(c, data, block) : 0;
    if (packed) return send_packed(connection, block, packed, more || block < bytes);
    uint8_t head[HEADS];
    size_t plain = block ? block : graft_compression_plain(&c->choice, bytes);
    size_t heads = put_head(c, head, (struct graft_block_head){(uint32_t)plain, 0});
    if (!send_all(connection, head, heads, true)) return -1;
    c->left = plain;
  }
  size_t part = c->left < bytes ? c->left : bytes;
  if (!c->choice.is_fast && part > PIECE) part = PIECE;
  uint64_t begun = part >= MEASURED_LEAST ? graft_now() : 0;
  ssize_t n = c->below->send(connection, data, part, more || part < bytes);
  if (n <= 0) return n;
  if (begun) note(connection, (size_t)n, begun);
  c->left -= (size_t)n;
  return n;
}

double graft_compression_rate(const struct graft_connection *connection) {
  double rate = -1;
  if (connection->transport && connection->transport->send == send_blocks) {
    const struct compression *c = connection->state;
    __atomic_load(&c->rate, &rate, __ATOMIC_RELAXED);
  }
  return rate;
}

static void close_blocks(struct graft_connection *connection) {
  struct compression *c = connection->state;
  connection->transport = c->below;
  connection->state = NULL;
  if (c->context) c->zstd->ZSTD_freeCCtx(c->context);
  free(c->packed);
  free(c);
}

/* Why nothing can be compressed on the connection; NULL if something can. */
static const char *obstacle(const struct graft_config *config, const struct graft_session_key *key,
                            const struct graft_zstd_library **zstd, char *reason, size_t size) {
  if (config->compression == GRAFT_COMPRESSION_NO) return "the configuration forbids it";
  if (!key->takes_blocks) return "the server does not know it, or its machine has no zstd";
  *zstd = graft_zstd_library(reason, size);
  return *zstd ? NULL : reason;
}

void graft_compress(struct graft_connection *connection, const struct graft_config *config, const struct graft_session_key *key) {
  const struct graft_transport *below = connection->transport;
  char reason[300];
  if ((below != &graft_socket_transport && below != &graft_tls_transport) || !graft_is_tcp(connection->fd)) return;
  const struct graft_zstd_library *zstd = NULL;
  const char *why = obstacle(config, key, &zstd, reason, sizeof reason);
  struct compression *c = why ? NULL : calloc(1, sizeof *c);
  if (config->debug)
    graft_say("compression of what is sent to %s: %s", config->server, why ? why : c ? "where it is faster" : "no memory");
  if (!c) return;
  c->transport = *below;
  c->transport.send = send_blocks;
  c->transport.close = close_blocks;
  c->below = below;
  c->zstd = zstd;
  graft_compression_choose(&c->choice, config->compression == GRAFT_COMPRESSION_YES, key->greeting_nanoseconds);
  c->is_far = c->choice.rate > 0;
  c->rate = c->choice.rate;
  connection->transport = &c->transport;
  connection->state = c;
}
