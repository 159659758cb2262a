#include "transport/ktls.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel's counters of TLS, which are there while its module is loaded. Those of replaced keys came with the function itself, in Linux
 * 6.14 and in older kernels of distributions that took it over, so that they say more than the kernel's version. To try it would need a
 * connection that is given up if the second key is refused, and a worker may make none. */
#define COUNTERS "/proc/self/net/tls_stat"
#define KEYS_REPLACED "TlsTxRekeyOk"

static bool replaces_keys(char *reason, size_t size) {
  char line[100];
  FILE *counters = fopen(COUNTERS, "re");
  if (!counters) {
    snprintf(reason, size, "the kernel's module tls is not loaded: %s: %s", COUNTERS, strerror(errno));
    return false;
  }
  bool found = false;
  while (!found && fgets(line, sizeof line, counters)) found = !strncmp(line, KEYS_REPLACED, strlen(KEYS_REPLACED));
  fclose(counters);
  if (!found) snprintf(reason, size, "the kernel cannot replace a key within a connection, as Linux 6.14 can");
  return found;
}

bool graft_ktls_set_key(int fd, const struct graft_tls_key *key) {
  struct tls12_crypto_info_aes_gcm_128 info = {.info = {.version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128}};
  _Static_assert(sizeof info.salt + sizeof info.iv == sizeof key->iv, "TLS 1.3 has no part of the nonce in the record");
  memcpy(info.salt, key->iv, sizeof info.salt);
  memcpy(info.iv, key->iv + sizeof info.salt, sizeof info.iv);
  for (unsigned i = 0; i < sizeof info.rec_seq; i++) info.rec_seq[sizeof info.rec_seq - 1 - i] = (uint8_t)(key->records >> 8 * i);
  graft_tls_key_bytes(key, info.key);
  bool is_set = !setsockopt(fd, SOL_TLS, TLS_TX, &info, sizeof info);
  explicit_bzero(&info, sizeof info);
  return is_set;
}

bool graft_ktls_begin(int fd, const struct graft_tls_key *key, char *reason, size_t size) {
  if (!key->is_aes) {
    snprintf(reason, size, "the cipher is ChaCha20-Poly1305");
  } else if (!replaces_keys(reason, size)) {
    return false;
  } else if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof "tls")) {
    snprintf(reason, size, "the kernel refuses TLS on this socket: %s", strerror(errno));
  } else if (!graft_ktls_set_key(fd, key)) {
    snprintf(reason, size, "the kernel refuses the key: %s", strerror(errno));
  } else {
    return true;
  }
  return false;
}

bool graft_ktls_message(int fd, uint8_t type, const void *message, size_t bytes) {
  union {
    struct cmsghdr header;
    uint8_t room[CMSG_SPACE(sizeof type)];
  } control = {.header = {.cmsg_level = SOL_TLS, .cmsg_type = TLS_SET_RECORD_TYPE, .cmsg_len = CMSG_LEN(sizeof type)}};
  *CMSG_DATA(&control.header) = type;
  struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
  struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
  ssize_t n;
  while ((n = sendmsg(fd, &all, MSG_NOSIGNAL)) < 0 && (errno == EAGAIN || errno == EINTR)) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    poll(&p, 1, -1);
  }
  return n == (ssize_t)bytes;
}
