/* From an address to an authenticated socket: TCP, Unix or vsock, then challenge and response. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "graft.h"
#include "grants.h"
#include "region.h"
#include "ucx.h"

#define MAGIC 0x54465247u
#define XEN_DEVICES "/dev/xen"

static int connect_unix(const char *path, char *reason, size_t size) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    snprintf(reason, size, "Unix socket path is longer than %zu: %s", sizeof address.sun_path - 1, path);
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) {
    snprintf(reason, size, "cannot connect to unix://%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

/* Connects with a limit on the time, so that a host that swallows packets is an error and not a hang. */
static int connect_within(int fd, const struct sockaddr *address, socklen_t bytes) {
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  int r = connect(fd, address, bytes);
  if (r && errno == EINPROGRESS) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (poll(&p, 1, GRAFT_HANDSHAKE_MILLISECONDS) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    errno = error;
    r = error ? -1 : 0;
  }
  fcntl(fd, F_SETFL, flags);
  return r;
}

static int connect_tcp(const char *text, char *reason, size_t size) {
  char host[256];
  snprintf(host, sizeof host, "%s", text);
  char *port = strrchr(host, ':');
  if (!port || !port[1]) {
    snprintf(reason, size, "server address has no port: tcp://%s", text);
    return -1;
  }
  *port++ = 0;
  char *name = host;
  size_t length = strlen(name);
  if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
    name[length - 1] = 0;
    name++;
  }
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
  int r = getaddrinfo(name, port, &hints, &list);
  if (r) {
    snprintf(reason, size, "cannot resolve %s: %s", name, gai_strerror(r));
    return -1;
  }
  int fd = -1, error = 0;
  for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect_within(fd, a->ai_addr, a->ai_addrlen)) {
      error = errno;
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(list);
  if (fd < 0) {
    snprintf(reason, size, "cannot connect to tcp://%s: %s", text, strerror(error));
    return -1;
  }
  int on = 1, idle = 10, interval = 5, count = 4;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  return fd;
}

static int connect_vsock(const char *text, char *reason, size_t size) {
  unsigned cid, port;
  int end = 0;
  if (sscanf(text, "%u:%u%n", &cid, &port, &end) != 2 || text[end]) {
    snprintf(reason, size, "a vsock address is vsock://CID:PORT (the host is CID 2), not vsock://%s", text);
    return -1;
  }
  struct sockaddr_vm address = {.svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = port};
  int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect_within(fd, (struct sockaddr *)&address, sizeof address)) {
    snprintf(reason, size, "cannot connect to vsock://%s: %s", text, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

struct hello {
  uint32_t magic, version;
  uint64_t hash;
  uint8_t nonce[32];
  char name[64];
  uint32_t kind, channel; /* channel 1: shared memory, its descriptor follows the welcome; 2: the guest's own; 3: UCX; 4: Xen's grants */
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

/* Something else answered. Most protocols for people to read begin with text, which says what it is; what could harm a
 * terminal is left out of it. */
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

/* How long a server that has answered may take to find a worker: where none is ready one is started. */
#define WORKER_MILLISECONDS 120000

/* A new session if the key has none, else one more connection of it. */
static bool authenticate(int fd, const struct graft_config *config, uint32_t channel, struct graft_session_key *key, char *reason,
                         size_t size) {
  bool lane = key->session != 0;
  struct hello hello = {
      .magic = MAGIC, .version = 1, .hash = GRAFT_API_HASH, .kind = lane, .channel = channel, .session = key->session};
  memcpy(hello.name, config->name, strnlen(config->name, sizeof hello.name));
  if (getrandom(hello.nonce, sizeof hello.nonce, 0) != (ssize_t)sizeof hello.nonce) {
    snprintf(reason, size, "no random numbers: %s", strerror(errno));
    return false;
  }
  struct challenge challenge;
  if (!graft_exchange(fd, &hello, sizeof hello, &challenge, sizeof challenge)) {
    snprintf(reason, size, "server %s did not answer the greeting: %s", config->server, strerror(errno));
    return false;
  }
  if (challenge.magic != MAGIC) {
    not_a_server(config->server, &challenge, reason, size);
    return false;
  }
  if (challenge.status) {
    snprintf(reason, size, "server %s speaks another version (its interface is %016llx, this client's %016llx): use the client that came with it",
             config->server, (unsigned long long)challenge.hash, (unsigned long long)GRAFT_API_HASH);
    return false;
  }
  uint8_t proof[32], expected[32];
  const uint8_t *secret = lane ? key->secret : config->token;
  prove(secret, "graft client 1", challenge.nonce, hello.nonce, &hello, proof);
  prove(secret, "graft server 1", hello.nonce, challenge.nonce, &hello, expected);
  struct welcome welcome;
  if (!graft_exchange(fd, proof, sizeof proof, NULL, 0) || !graft_comes_within(fd, WORKER_MILLISECONDS) ||
      !graft_exchange(fd, NULL, 0, &welcome, sizeof welcome)) {
    snprintf(reason, size, "server %s closed the connection at authentication: %s", config->server, strerror(errno));
    return false;
  }
  if (welcome.status) {
    graft_plain_text(welcome.message, sizeof welcome.message);
    snprintf(reason, size, "server %s refused %s: %s", config->server, config->name,
             welcome.message[0] ? welcome.message : "no reason given");
    return false;
  }
  unsigned difference = 0;
  for (int i = 0; i < 32; i++) difference |= welcome.proof[i] ^ expected[i];
  if (difference) {
    snprintf(reason, size, "server %s does not know this client's token: it may not be the server it claims to be", config->server);
    return false;
  }
  if (!lane) {
    key->session = welcome.session;
    prove(config->token, "graft session 1", hello.nonce, challenge.nonce, &hello, key->secret);
  }
  return true;
}

/* How an address says to reach the server, and what is to carry the records then. */
static const struct scheme {
  const char *prefix;
  int (*open)(const char *rest, char *reason, size_t size);
  enum { OVER_SOCKET, OVER_SHARED_MEMORY, OVER_GUEST_MEMORY, OVER_UCX, OVER_GRANTS } channel;
} schemes[] = {
    {"tcp://", connect_tcp, OVER_SOCKET},         {"unix://", connect_unix, OVER_SOCKET},
    {"vsock://", connect_vsock, OVER_SOCKET},     {"shm://", connect_unix, OVER_SHARED_MEMORY},
    {"ivshmem://", connect_tcp, OVER_GUEST_MEMORY}, {"ivshmem+vsock://", connect_vsock, OVER_GUEST_MEMORY},
    {"rdma://", connect_tcp, OVER_UCX},           {"vchan://", connect_tcp, OVER_GRANTS},
};

static const struct scheme *scheme_of(const char *address, char *reason, size_t size) {
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (!strncmp(address, schemes[i].prefix, strlen(schemes[i].prefix))) return &schemes[i];
  }
  snprintf(reason, size, "server address must start with tcp://, unix://, vsock://, shm://, ivshmem://, ivshmem+vsock://, rdma:// or vchan://, not %s", address);
  return NULL;
}

static bool rdma_is_usable(const struct graft_config *config, char *reason, size_t size) {
  graft_ucx_use(config->rdma_devices, config->rdma_ports);
  return graft_ucx_present(reason, size);
}

/* A session that could not be used would cost the server a worker. */
static bool usable(const struct scheme *scheme, const struct graft_config *config, char *reason, size_t size) {
  if (scheme->channel == OVER_GUEST_MEMORY) return graft_region_present(config->pci_devices, reason, size);
  if (scheme->channel == OVER_GRANTS) return graft_grants_present(XEN_DEVICES, reason, size);
  return scheme->channel != OVER_UCX || rdma_is_usable(config, reason, size);
}

/* What follows the welcome. */
static bool settle(const struct scheme *scheme, const struct graft_config *config, struct graft_wire *wire, char *reason, size_t size) {
  switch (scheme->channel) {
    case OVER_SHARED_MEMORY:
      return graft_region_share(wire->fd, reason, size);
    case OVER_GUEST_MEMORY:
      return graft_region_join(wire->fd, config->pci_devices, reason, size);
    case OVER_GRANTS:
      return graft_grants_join(wire->fd, XEN_DEVICES, reason, size);
    case OVER_UCX:
      wire->ucx = graft_ucx_open(wire->fd, reason, size);
      return wire->ucx;
    default:
      return true;
  }
}

bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_wire *wire, char *reason,
                           size_t size) {
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *wire = (struct graft_wire){.fd = -1};
  if (!scheme || !usable(scheme, config, reason, size)) return false;
  wire->fd = scheme->open(config->server + strlen(scheme->prefix), reason, size);
  if (wire->fd < 0) return false;
  key->session = 0;
  bool ready = authenticate(wire->fd, config, scheme->channel, key, reason, size) && settle(scheme, config, wire, reason, size);
  if (!ready) graft_wire_close(wire);
  return ready;
}

bool graft_connect_lane(const struct graft_config *config, const struct graft_session_key *key, enum graft_lane lane,
                        struct graft_wire *wire, char *reason, size_t size) {
  struct graft_session_key session = *key;
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *wire = (struct graft_wire){.fd = scheme ? scheme->open(config->server + strlen(scheme->prefix), reason, size) : -1};
  if (wire->fd < 0) return false;
  bool like_session = scheme->channel == OVER_UCX && lane == GRAFT_LANE_BULK;
  bool ready = authenticate(wire->fd, config, lane, &session, reason, size) &&
               (!like_session || settle(scheme, config, wire, reason, size));
  if (!ready) graft_wire_close(wire);
  return ready;
}
