/* The server's end of a connection for the tests: the handshake with a client without a token, requests, answers. */
#ifndef GRAFT_TEST_FAKE_SERVER_H
#define GRAFT_TEST_FAKE_SERVER_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/crypto.h"
#include "graft_rpc.h"

/* Opens a socket that listens on a port of the loopback interface; -1 if that fails. */
static inline int fake_listen(int *port) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8) ||
      getsockname(listener, (struct sockaddr *)&address, &length)) {
    return -1;
  }
  *port = ntohs(address.sin_port);
  return listener;
}

/* How long the server waits for bytes of the client. */
static int fake_milliseconds = 300;

static inline bool fake_get(int fd, void *to, size_t bytes) {
  uint8_t *p = to;
  while (bytes) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, fake_milliseconds) <= 0) return false;
    ssize_t n = recv(fd, p, bytes, 0);
    if (n <= 0) return false;
    p += n;
    bytes -= (size_t)n;
  }
  return true;
}

static inline bool fake_put(int fd, const void *data, size_t bytes) {
  return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* Called, if it is set, when the client has sent its proof, with the key of TLS. False ends the handshake without a welcome. */
static bool (*fake_before_welcome)(int fd);
static uint8_t fake_tls_key[32];
/* Whether the server proves that it knows the token. */
static bool fake_knows_token = true;

static inline bool fake_handshake(int fd) {
  uint8_t hello[128], challenge[64] = {0}, proof[32], welcome[256] = {0};
  if (!fake_get(fd, hello, sizeof hello)) return false;
  uint32_t magic = 0x54465247u;
  uint64_t hash = GRAFT_API_HASH;
  memcpy(challenge, &magic, 4);
  memcpy(challenge + 8, &hash, 8);
  if (!fake_put(fd, challenge, sizeof challenge) || !fake_get(fd, proof, sizeof proof)) return false;
  uint8_t token[32] = {0};
  const void *parts[] = {"graft server 1", hello + 16, challenge + 16, &hash, hello + 48};
  const size_t sizes[] = {14, 32, 32, 8, 80};
  graft_hmac_sha256(token, 32, parts, sizes, 5, welcome + 16);
  if (!fake_knows_token) welcome[16] ^= 1;
  const void *tls_parts[] = {"graft tls 1", hello + 16, challenge + 16, &hash, hello + 48};
  const size_t tls_sizes[] = {11, 32, 32, 8, 80};
  graft_hmac_sha256(token, 32, tls_parts, tls_sizes, 5, fake_tls_key);
  if (fake_before_welcome && !fake_before_welcome(fd)) return false;
  return fake_put(fd, welcome, sizeof welcome);
}

struct fake_answer {
  uint32_t size;
  uint16_t kind, zero;
  uint32_t slot;
  int32_t result;
};

struct fake_request {
  uint32_t size;
  uint16_t function, flags;
  uint32_t slot, context;
};

#endif
