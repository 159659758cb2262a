/* Streams in blocks: what a client sends over TCP arrives as it was, whatever is compressed; blocks that no client sends end the stream;
 * and the choice what to compress. */
#include "transport/blocks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/config.h"
#include "transport/compression.h"
#include "transport/compression_choice.h"
#include "transport/connect.h"
#include "transport/tls.h"
#include "transport/transport.h"
#include "transport/zstd_library.h"
#include "unit.h"

#define MOST (3u << 20)

static uint64_t seed;

static uint32_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 16);
}

static bool is_seeded(void) {
  FILE *file = fopen("/dev/urandom", "r");
  bool seeded = file && fread(&seed, sizeof seed, 1, file) == 1 && seed;
  if (file) fclose(file);
  return seeded;
}

/* Runs of zeros, of a short pattern, and of random bytes. */
static void fill(uint8_t *data, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    size_t run = 1 + next_random() % (next_random() % 2 ? 400000 : 4000);
    uint32_t kind = next_random() % 3;
    for (size_t end = at + run < bytes ? at + run : bytes; at < end; at++) {
      data[at] = kind == 0 ? 0 : kind == 1 ? (uint8_t)(at % 13) : (uint8_t)next_random();
    }
  }
}

static void connect_tcp(int ends[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&address, &size) || connect(ends[0], (struct sockaddr *)&address, size)) {
    abort();
  }
  ends[1] = accept(listener, NULL, NULL);
  close(listener);
}

/* ---- What arrives ---- */

struct receiver {
  int fd;
  bool encrypted;
  size_t bytes;
  uint8_t *data;
  size_t got;
  int error;
  char reason[160];
};

static const uint8_t key[GRAFT_TLS_KEY] = {7, 8, 9};

/* Receives to the end of the stream, in pieces of any size, and sometimes without waiting. */
static void *receive_stream(void *receiver) {
  struct receiver *r = receiver;
  char reason[300];
  unsigned turn = 0;
  struct graft_tls *tls = r->encrypted ? graft_tls_open(r->fd, true, key, 5000, reason, sizeof reason) : NULL;
  struct graft_blocks *blocks = graft_blocks_open(r->fd, tls);
  for (;;) {
    size_t room = r->bytes - r->got, piece = turn % 3 ? 700000 : 1 + turn * 37 % 5000;
    if (!room) room = 1; /* "data" has a byte more, so that too much is noticed */
    if (piece > room) piece = room;
    ssize_t n =
        turn++ % 2 ? graft_blocks_try(blocks, r->data + r->got, piece) : graft_blocks_receive(blocks, r->data + r->got, piece);
    if (n < 0 && errno == EAGAIN) continue;
    if (n < 0) r->error = errno;
    if (n <= 0 || r->got == r->bytes) break;
    r->got += (size_t)n;
  }
  snprintf(r->reason, sizeof r->reason, "%s", graft_blocks_reason(blocks));
  graft_blocks_close(blocks);
  graft_tls_close(tls);
  return NULL;
}

/* Sends random data over a connection in pieces, and compares. Returns the bytes that were compressed. */
static uint64_t carry(enum graft_compression setting, bool encrypted, bool understood, uint64_t greeting) {
  struct graft_config config = {.compression = setting};
  struct graft_session_key session = {.takes_blocks = understood, .greeting_nanoseconds = greeting};
  uint64_t before, after, to;
  int ends[2];
  char reason[300];
  size_t bytes =
      next_random() % 5 ? GRAFT_BLOCKS_BEGIN_BYTES + next_random() % MOST : GRAFT_BLOCKS_BEGIN_BYTES + next_random() % 40;
  uint8_t *data = malloc(bytes);
  if (!data) abort();
  fill(data, bytes);
  connect_tcp(ends);
  struct receiver r = {.fd = ends[1], .encrypted = encrypted, .bytes = bytes, .data = malloc(bytes + 1)};
  pthread_t thread;
  if (!r.data || pthread_create(&thread, NULL, receive_stream, &r)) abort();
  struct graft_connection c = {.fd = ends[0], .transport = &graft_socket_transport};
  if (encrypted) {
    c.tls = graft_tls_open(ends[0], false, key, 5000, reason, sizeof reason);
    c.transport = &graft_tls_transport;
  }
  graft_compressed(&before, &to);
  graft_compress(&c, &config, &session);
  bool sent = true;
  for (size_t at = 0; sent && at < bytes;) {
    size_t piece = next_random() % 3 ? 1 + next_random() % 2000 : 1 + next_random() % 1500000;
    if (piece > bytes - at) piece = bytes - at;
    sent = graft_connection_send_all(&c, data + at, piece, next_random() % 2 && at + piece < bytes);
    at += piece;
  }
  CHECK(sent);
  shutdown(ends[0], SHUT_WR);
  pthread_join(thread, NULL);
  CHECK(r.got == bytes && !r.error && !memcmp(r.data, data, bytes));
  graft_compressed(&after, &to);
  graft_connection_close(&c);
  close(ends[1]);
  free(data);
  free(r.data);
  return after - before;
}

static void arrives(void) {
  uint64_t compressed = 0, to_far = 0;
  for (int i = 0; i < 30; i++) {
    compressed += carry(GRAFT_COMPRESSION_YES, i % 2, true, 0);
    to_far += carry(GRAFT_COMPRESSION_AUTO, i % 2, true, 30000000);
    CHECK(!carry(GRAFT_COMPRESSION_NO, i % 2, true, 30000000));
    CHECK(!carry(GRAFT_COMPRESSION_YES, i % 2, false, 30000000));
  }
  CHECK(compressed > 1 << 20 && to_far > 1 << 20);
}

/* ---- What no client sends ---- */

/* How the stream ends that consists of these bytes. Data that arrives is to be the expected data, as far as it comes. */
static struct receiver ending(const void *said, size_t bytes, const uint8_t *expected, size_t most) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  struct receiver r = {.fd = ends[1], .bytes = most, .data = malloc(most + 1)};
  pthread_t thread;
  if (!r.data || pthread_create(&thread, NULL, receive_stream, &r)) abort();
  for (size_t done = 0; done < bytes;) {
    ssize_t n = send(ends[0], (const uint8_t *)said + done, bytes - done, MSG_NOSIGNAL);
    if (n <= 0) break;
    done += (size_t)n;
  }
  shutdown(ends[0], SHUT_WR);
  pthread_join(thread, NULL);
  close(ends[0]);
  close(ends[1]);
  if (expected) CHECK(!memcmp(r.data, expected, r.got));
  free(r.data);
  return r;
}

static uint8_t stream[GRAFT_BLOCKS_BEGIN_BYTES + 2 * (sizeof(struct graft_block_head) + GRAFT_BLOCK_MOST)];

/* Puts a block into the stream, and returns where the next one goes. */
static size_t put(size_t at, uint32_t bytes, uint32_t packed, const void *data, size_t present) {
  struct graft_block_head head = {bytes, packed};
  if (!at) memcpy(stream, GRAFT_BLOCKS_BEGIN, at = GRAFT_BLOCKS_BEGIN_BYTES);
  memcpy(stream + at, &head, sizeof head);
  if (present) memcpy(stream + at + sizeof head, data, present);
  return at + sizeof head + present;
}

static bool is_refused(size_t bytes, size_t arrived, const char *reason) {
  struct receiver r = ending(stream, bytes, NULL, MOST);
  return r.got == arrived && r.error == EPROTO && strstr(r.reason, reason);
}

static void wrong_blocks(const struct graft_zstd_library *zstd) {
  static uint8_t zeros[8u << 20], packed[64u << 10];
  ZSTD_CCtx *context = zstd->ZSTD_createCCtx();
  uint32_t bomb = (uint32_t)zstd->ZSTD_compressCCtx(context, packed, sizeof packed, zeros, sizeof zeros, 1);
  CHECK(bomb < sizeof packed);
  CHECK(is_refused(put(0, GRAFT_BLOCK_MOST, bomb, packed, bomb), 0, "does not hold"));
  CHECK(is_refused(put(0, sizeof zeros, bomb, packed, bomb), 0, "must hold 262144 at most"));
  CHECK(is_refused(put(0, UINT32_MAX, bomb, packed, bomb), 0, "must hold"));
  uint32_t right = (uint32_t)zstd->ZSTD_compressCCtx(context, packed, sizeof packed, zeros, 1000, 1);
  zstd->ZSTD_freeCCtx(context);
  CHECK(is_refused(put(0, 999, right, packed, right), 0, "does not hold the 999"));
  CHECK(is_refused(put(0, 1001, right, packed, right), 0, "does not hold the 1001"));
  CHECK(is_refused(put(0, right, right, packed, right), 0, "smaller than what it holds"));
  CHECK(is_refused(put(0, 0, right, packed, right), 0, "smaller than what it holds"));
  CHECK(is_refused(put(0, 1000, right, packed, right - 1), 0, "in the middle of a block"));
  CHECK(is_refused(put(0, 1000, right - 1, packed, right - 1), 0, "does not hold"));
  CHECK(is_refused(put(0, 1000, 900, zeros, 900), 0, "does not hold"));
  CHECK(is_refused(put(0, 0, 0, NULL, 0), 0, "a block of 0 bytes"));
  CHECK(is_refused(put(0, GRAFT_PLAIN_BLOCK_MOST + 1, 0, NULL, 0), 0, "a block of 16777217 bytes"));
  CHECK(is_refused(put(0, 1000, right, packed, right) + 3, 1000, "in the middle of a block"));
  CHECK(is_refused(put(put(0, 1000, right, packed, right), 10, 0, zeros, 10) + 8, 1010, "a block of 0 bytes"));
  for (size_t i = 1; i < GRAFT_BLOCKS_BEGIN_BYTES; i++) CHECK(is_refused(i, 0, "ends as it begins"));
  /* A block that is not compressed may be cut: the stream ends there. */
  struct receiver cut = ending(stream, put(0, 1000, 0, zeros, 10), zeros, MOST);
  CHECK(cut.got == 10 && !cut.error);
  /* Another stream passes as it is. */
  struct receiver other = ending("GRAFTBK2 and more", 17, (const uint8_t *)"GRAFTBK2 and more", MOST);
  CHECK(other.got == 17 && !other.error);
}

/* Right streams with a few wrong bytes, or cut. */
static void changed_blocks(const struct graft_zstd_library *zstd) {
  static uint8_t data[2 * GRAFT_BLOCK_MOST], packed[2 * GRAFT_BLOCK_MOST];
  ZSTD_CCtx *context = zstd->ZSTD_createCCtx();
  int wrong = 0;
  for (int i = 0; i < 400; i++) {
    size_t at = 0, all = 0;
    fill(data, sizeof data);
    for (int block = 0; block < 2; block++) {
      uint32_t bytes = 600 + next_random() % (i % 4 ? 3000 : GRAFT_BLOCK_MOST - 600);
      memset(data + all, 1, bytes / 8 + 300); /* so that it becomes smaller */
      size_t n = zstd->ZSTD_compressCCtx(context, packed, sizeof packed, data + all, bytes, 1);
      if (n >= bytes) abort();
      at = put(at, bytes, (uint32_t)n, packed, n);
      all += bytes;
    }
    struct receiver r = ending(stream, at, data, sizeof data);
    CHECK(r.got == all && !r.error);
    for (int changes = next_random() % 4; changes >= 0; changes--) {
      stream[GRAFT_BLOCKS_BEGIN_BYTES + next_random() % (at - GRAFT_BLOCKS_BEGIN_BYTES)] ^= (uint8_t)(1u << next_random() % 8);
    }
    if (i % 3 == 0) at = next_random() % at;
    r = ending(stream, at, NULL, sizeof data);
    CHECK(r.got <= 2 * GRAFT_BLOCK_MOST && (!r.error || (r.error == EPROTO && r.reason[0])));
    wrong += r.error != 0;
  }
  CHECK(wrong > 100);
  zstd->ZSTD_freeCCtx(context);
}

/* ---- The choice ---- */

#define MILLISECOND UINT64_C(1000000)

/* A connection that takes so many bytes a second, and at once as many as its buffers hold; and a zstd of one speed. */
struct model {
  double rate, buffer, queued, packs; /* bytes a second, bytes, bytes, bytes a second */
  double ratio;
  uint64_t now, sent;
  size_t from, compressed, wasted;
  int plain_blocks;
};

/* Sends bytes as send_blocks does. Returns the seconds that it took. */
static double send_by_model(struct graft_compression_choice *c, struct model *m, size_t bytes) {
  uint64_t start = m->now;
  size_t plain = 0;
  for (size_t left = bytes; left;) {
    size_t block = plain ? 0 : graft_compression_block(c, left), out = block;
    if (block) {
      uint64_t took = (uint64_t)((double)block / m->packs * 1e9);
      size_t packed = m->ratio < 0.94 ? (size_t)((double)block * m->ratio) : 0;
      m->now += took;
      graft_compression_tried(c, block, packed, took);
      m->from += block;
      m->compressed += packed ? block : 0;
      m->wasted += packed ? 0 : block;
      out = packed ? packed : block;
    } else {
      if (!plain) {
        plain = graft_compression_plain(c, left);
        m->plain_blocks++;
      }
      out = block = plain < left ? plain : left;
      if (out > 256 << 10) out = block = 256 << 10;
      plain -= block;
    }
    uint64_t begun = m->now;
    m->queued -= (double)(begun - m->sent) * m->rate / 1e9;
    if (m->queued < 0) m->queued = 0;
    m->queued += (double)out;
    m->now += (uint64_t)((double)out / 4e9 * 1e9) + 1;
    if (m->queued > m->buffer) { /* as Linux does, until a third of the buffer is free */
      m->now += (uint64_t)((m->queued - m->buffer * 2 / 3) / m->rate * 1e9);
      m->queued = m->buffer * 2 / 3;
    }
    m->sent = m->now;
    if (out >= 16384 || out < block) graft_compression_sent(c, out, begun, m->now);
    left -= block;
  }
  return (double)(m->now - start) / 1e9;
}

/* Seconds for 64 MiB over a new connection. */
static double seconds(struct model *m, uint64_t greeting) {
  struct graft_compression_choice c;
  graft_compression_choose(&c, false, greeting);
  m->now = m->sent = 1000 * MILLISECOND;
  double all = 0;
  for (int i = 0; i < 64; i++) all += send_by_model(&c, m, 1000) + send_by_model(&c, m, (1 << 20) - 1000);
  return all;
}

static void choices(void) {
  struct model slow = {.rate = 12.5e6, .buffer = 2e6, .packs = 400e6, .ratio = 0.5};
  double took = seconds(&slow, 1);
  CHECK(took < 0.6 * (64 << 20) / 12.5e6 && slow.compressed > 60u << 20 && !slow.wasted);
  struct model far = {.rate = 12.5e6, .buffer = 2e6, .packs = 400e6, .ratio = 0.5};
  seconds(&far, 30 * MILLISECOND);
  CHECK(far.compressed >= 64u << 20); /* from the first byte on */
  struct model incompressible = {.rate = 12.5e6, .buffer = 2e6, .packs = 400e6, .ratio = 1};
  took = seconds(&incompressible, 30 * MILLISECOND);
  CHECK(took < 1.02 * (64 << 20) / 12.5e6 && !incompressible.compressed && incompressible.wasted < 2u << 20);
  CHECK(incompressible.plain_blocks < 300);
  struct model fast = {.rate = 2e9, .buffer = 2e6, .packs = 400e6, .ratio = 0.1};
  seconds(&fast, 1);
  CHECK(!fast.from);
  /* A server that was busy when it was greeted, on a fast connection. */
  struct model busy = {.rate = 2e9, .buffer = 2e6, .packs = 400e6, .ratio = 0.5};
  seconds(&busy, 30 * MILLISECOND);
  CHECK(busy.from < 24u << 20);
  /* zstd is slower than the connection. */
  struct model weak = {.rate = 200e6, .buffer = 2e6, .packs = 100e6, .ratio = 0.3};
  took = seconds(&weak, 1);
  CHECK(took < 1.1 * (64 << 20) / 200e6);
  /* Between: it pays, though the connection then waits for zstd. */
  struct model even = {.rate = 200e6, .buffer = 2e6, .packs = 400e6, .ratio = 0.2};
  took = seconds(&even, 1);
  CHECK(took < 0.75 * (64 << 20) / 200e6);
  /* A pause lets the buffers empty, so that what they take at once says nothing about the connection. */
  struct graft_compression_choice c;
  struct model steps = {
      .rate = 12.5e6, .buffer = 4e6, .packs = 400e6, .ratio = 0.5, .now = 1000 * MILLISECOND, .sent = 1000 * MILLISECOND};
  graft_compression_choose(&c, false, 1);
  send_by_model(&c, &steps, 16 << 20);
  size_t before = steps.compressed;
  for (int i = 0; i < 20; i++) {
    steps.now += 500 * MILLISECOND;
    send_by_model(&c, &steps, 2 << 20);
  }
  CHECK(steps.compressed - before >= 40u << 20);
  graft_compression_choose(&c, true, 1);
  CHECK(graft_compression_block(&c, 1 << 20) == GRAFT_BLOCK_MOST && !graft_compression_block(&c, 100));
}

void test_blocks(void) {
  char reason[300];
  const struct graft_zstd_library *zstd = graft_zstd_library(reason, sizeof reason);
  choices();
  CHECK(is_seeded());
  uint64_t first = seed;
  CHECK(zstd); /* without it there is nothing to test */
  if (!zstd) return;
  wrong_blocks(zstd);
  changed_blocks(zstd);
  arrives();
  fprintf(stderr, "blocks: seed %llx\n", (unsigned long long)first);
}
