/* Challenge and response: each end proves that it has the client's token, the secret of the two machines' certificates, or the session's secret
 * (remoting-bridge/api/README.md). */
#include "transport/handshake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "base/config.h"
#include "base/crypto.h"
#include "base/environment.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "transport/exchange.h"

#define MAGIC 0x54465247u
/* Flags of the greeting. */
#define ENCRYPTED 1    /* TLS follows the welcome */
#define CERTIFICATES 2 /* TLS with certificates follows the challenge; what it agrees on stands for the token */
#define HEARS_WAITS 4  /* the client understands the welcome's status WAITING */
#define ADDRESSES_AT 8 /* four bits: the range in which device memory has to lie */
/* A flag of the welcome: the server's worker understands streams in blocks (transport/blocks.h), on this connection and further ones. No
 * proof covers it: whoever changes it on the way can have a session not compressed, or fail. */
#define TAKES_BLOCKS 1
/* The welcome's status of a client that waits for a place: another welcome follows. */
#define WAITING 10
/* The challenge's status of a server that speaks another version. All others are explained in the welcome. */
#define OTHER_PROTOCOL 1
#define OTHER_API 2

struct hello {
  uint32_t magic, version;
  uint64_t hash;
  uint8_t nonce[32];
  char name[64];
  uint16_t kind, flags;
  uint32_t channel; /* channel: graft_transport.number of the session, or graft_purpose of a further connection */
  /* A further connection: the session's number. A session: the connections to the GPU that the program asks for, 0 if it does not. */
  uint64_t session;
};
struct challenge {
  uint32_t magic, status;
  uint64_t hash;
  uint8_t nonce[32];
  uint8_t reserved[16];
};
struct welcome {
  uint32_t status, flags;
  uint64_t session;
  uint8_t proof[32];
  char message[208];
};
_Static_assert(sizeof(struct hello) == 128 && sizeof(struct challenge) == 64 && sizeof(struct welcome) == 256,
               "the handshake's records have fixed sizes");

/* The label, both nonces and what the greeting says, under a key. */
static void prove(const uint8_t key[32], const char *label, const uint8_t *first, const uint8_t *second, const struct hello *hello,
                  uint8_t out[32]) {
  const void *parts[] = {label, first, second, &hello->hash, hello->name};
  const size_t sizes[] = {strlen(label), 32, 32, 8, sizeof *hello - offsetof(struct hello, name)};
  graft_hmac_sha256(key, 32, parts, sizes, 5, out);
}

/* Something else answered. Text protocols usually say in their first line what they are; characters that could harm a terminal are removed. */
static void not_a_server(const char *server, const struct challenge *answer, char *reason, size_t size) {
  char words[25];
  bool text = true;
  memcpy(words, answer, sizeof words - 1);
  words[sizeof words - 1] = 0;
  for (size_t i = 0; i < sizeof words - 1; i++) {
    bool printable = words[i] >= 32 && words[i] < 127;
    if (i < sizeof answer->magic) text = text && printable;
    if (!printable) words[i] = ' ';
  }
  size_t used = (size_t)snprintf(reason, size, "%s is not a Graft server", server);
  if (text && used < size) snprintf(reason + used, size - used, ": it answers \"%s\"", words);
}

/* How long a server that has answered may take to provide a worker, since it may have to start one. A server that lets the client wait for a place says so more often. */
#define WORKER_MILLISECONDS 120000
/* How often the reason of a wait is printed at most, however often a hostile server gives one. */
#define NOTICE_NANOSECONDS UINT64_C(10000000000)

static bool is_refused(const struct graft_config *config, struct welcome *welcome, char *reason, size_t size) {
  if (!welcome->status) return false;
  graft_plain_text(welcome->message, sizeof welcome->message);
  snprintf(reason, size, "server %s refused %s: %s", config->server, config->name,
           welcome->message[0] ? welcome->message : "no reason given");
  return true;
}

/* Receives the welcome. While the server has no place for this client, it sends the reason instead, which is printed when it is new. */
static bool receive_welcome(int fd, const struct graft_config *config, struct welcome *welcome) {
  char printed[sizeof welcome->message] = "";
  uint64_t next = 0;
  while (graft_comes_within(fd, WORKER_MILLISECONDS) &&
         graft_exchange((struct graft_wire){.fd = fd}, NULL, 0, welcome, sizeof *welcome)) {
    if (welcome->status != WAITING) return true;
    graft_plain_text(welcome->message, sizeof welcome->message);
    if (graft_now() < next || !strcmp(welcome->message, printed)) continue;
    graft_say("server %s: %s", config->server, welcome->message);
    memcpy(printed, welcome->message, sizeof printed);
    next = graft_now() + NOTICE_NANOSECONDS;
  }
  return false;
}

/* The server does not go on after its challenge. */
static void stops(int fd, const struct graft_config *config, const struct challenge *challenge, char *reason, size_t size) {
  struct welcome welcome = {0};
  if (challenge->status == OTHER_PROTOCOL || challenge->status == OTHER_API) {
    snprintf(reason, size,
             "server %s speaks another version (its interface is %016llx, this client's %016llx): use the client that came with it",
             config->server, (unsigned long long)challenge->hash, (unsigned long long)GRAFT_API_HASH);
  } else if (!graft_exchange((struct graft_wire){.fd = fd}, NULL, 0, &welcome, sizeof welcome) ||
             !is_refused(config, &welcome, reason, size)) {
    snprintf(reason, size, "server %s refused %s: no reason given", config->server, config->name);
  }
}

/* Performs TLS with certificates, and takes the secret. */
static bool agree(int fd, const struct graft_config *config, const struct graft_certificates *certificates, uint8_t secret[32],
                  char *reason, size_t size) {
  char why[300];
  struct graft_node *node = malloc(sizeof *node);
  bool known = node && graft_certificates_authenticate(certificates, fd, GRAFT_HANDSHAKE_MILLISECONDS, node, why, sizeof why) ==
                           GRAFT_NODE_KNOWN;
  if (known) memcpy(secret, node->secret, sizeof node->secret);
  if (!known) snprintf(reason, size, "server %s: %s", config->server, node ? why : "no memory for certificates");
  if (node) explicit_bzero(node, sizeof *node);
  free(node);
  return known;
}

/* The key of the proofs. */
static bool choose_secret(int fd, const struct graft_config *config, const struct graft_certificates *certificates,
                          const struct graft_session_key *key, uint8_t secret[32], char *reason, size_t size) {
  if (!key->session && certificates) return agree(fd, config, certificates, secret, reason, size);
  memcpy(secret, key->session ? key->secret : config->token, 32);
  return true;
}

/* Sends the proof and, without waiting for the welcome, TLS's greeting: that saves a round trip, and shows no more of the secret than the proof does. The server's part of TLS and its proof come together. */
static bool send_proof(int fd, const struct graft_config *config, const struct hello *hello, const struct challenge *challenge,
                       const uint8_t secret[32], const uint8_t session_secret[32], struct graft_tls **tls, char *reason,
                       size_t size) {
  uint8_t proof[32], tls_key[GRAFT_TLS_KEY];
  char why[300];
  prove(secret, "graft client 1", challenge->nonce, hello->nonce, hello, proof);
  if (!graft_exchange((struct graft_wire){.fd = fd}, proof, sizeof proof, NULL, 0)) {
    snprintf(reason, size, "server %s closed the connection at authentication: %s", config->server, strerror(errno));
    return false;
  }
  if (!tls) return true;
  prove(session_secret, "graft tls 1", hello->nonce, challenge->nonce, hello, tls_key);
  *tls = graft_tls_begin(fd, false, tls_key, why, sizeof why);
  explicit_bzero(tls_key, sizeof tls_key);
  if (!*tls) snprintf(reason, size, "server %s: %s", config->server, why);
  return *tls;
}

/* Receives the welcome, and verifies the server's proof. */
static bool verify_server(int fd, const struct graft_config *config, const struct hello *hello, const struct challenge *challenge,
                          const uint8_t secret[32], struct graft_session_key *its, char *reason, size_t size) {
  struct welcome welcome;
  uint8_t expected[32];
  prove(secret, "graft server 1", hello->nonce, challenge->nonce, hello, expected);
  if (!receive_welcome(fd, config, &welcome)) {
    snprintf(reason, size, "server %s closed the connection at authentication: %s", config->server, strerror(errno));
    return false;
  }
  if (is_refused(config, &welcome, reason, size)) return false;
  unsigned difference = 0;
  for (int i = 0; i < 32; i++) difference |= welcome.proof[i] ^ expected[i];
  if (difference) {
    snprintf(reason, size, "server %s does not know this client's %s: it may not be the server it claims to be", config->server,
             hello->flags & CERTIFICATES ? "secret" : "token");
    return false;
  }
  its->session = welcome.session;
  its->takes_blocks = welcome.flags & TAKES_BLOCKS;
  return true;
}

/* Proves the secret, and verifies the server's proof. Sets the session's key, and begins TLS. */
static bool prove_both(int fd, const struct graft_config *config, const struct hello *hello, const struct challenge *challenge,
                       const uint8_t secret[32], struct graft_session_key *key, struct graft_tls **tls, char *reason, size_t size) {
  struct graft_session_key its = *key;
  if (!key->session) prove(secret, "graft session 1", hello->nonce, challenge->nonce, hello, its.secret);
  bool proved = send_proof(fd, config, hello, challenge, secret, its.secret, tls, reason, size) &&
                verify_server(fd, config, hello, challenge, secret, &its, reason, size);
  if (proved && !key->session) *key = its;
  explicit_bzero(&its, sizeof its);
  return proved;
}

bool graft_authenticate(int fd, const struct graft_config *config, const struct graft_certificates *certificates, uint32_t channel,
                        struct graft_session_key *key, struct graft_tls **tls, char *reason, size_t size) {
  bool further = key->session != 0;
  struct hello hello = {.magic = MAGIC,
                        .version = 1,
                        .hash = GRAFT_API_HASH,
                        .kind = further,
                        .flags = (uint16_t)((tls ? ENCRYPTED : 0) | (certificates && !further ? CERTIFICATES : 0) |
                                            (further ? 0 : HEARS_WAITS | config->addresses << ADDRESSES_AT)),
                        .channel = channel,
                        .session = further ? key->session : graft_environment.connections};
  memcpy(hello.name, config->name, strnlen(config->name, sizeof hello.name));
  if (getrandom(hello.nonce, sizeof hello.nonce, 0) != (ssize_t)sizeof hello.nonce) {
    snprintf(reason, size, "no random numbers: %s", strerror(errno));
    return false;
  }
  struct challenge challenge;
  uint64_t greeted = graft_now();
  if (!graft_exchange((struct graft_wire){.fd = fd}, &hello, sizeof hello, &challenge, sizeof challenge)) {
    snprintf(reason, size, "server %s did not answer the greeting: %s", config->server, strerror(errno));
    return false;
  }
  if (!further) key->greeting_nanoseconds = graft_now() - greeted;
  if (challenge.magic != MAGIC) {
    not_a_server(config->server, &challenge, reason, size);
    return false;
  }
  if (challenge.status) {
    stops(fd, config, &challenge, reason, size);
    return false;
  }
  uint8_t secret[32];
  bool proved = choose_secret(fd, config, certificates, key, secret, reason, size) &&
                prove_both(fd, config, &hello, &challenge, secret, key, tls, reason, size);
  explicit_bzero(secret, sizeof secret);
  return proved;
}
