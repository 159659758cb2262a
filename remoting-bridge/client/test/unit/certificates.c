/* Two machines that authenticate each other by certificates: who is known, what a wrong certificate is refused for, and what an end that does not
 * speak TLS, or not to the end, cannot do. test/certificates.sh makes the certificates. */
#include "transport/certificates.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "transport/connect.h"
#include "transport/dial.h"
#include "transport/tls_library.h"
#include "transport/transport.h"
#include "unit.h"

#define PROOF "what follows the handshake on the socket"
#define TLS_1_2 0x0303
#define LIMIT 10000

static char folder[] = "/tmp/graft-certificates-XXXXXX";

/* ---- One end ---- */

struct end {
  int fd;
  const char *host; /* NULL for the server */
  const char *files;
  int limit, result;
  struct graft_node node;
  char reason[500];
};

static struct graft_certificates *files_of(const char *name, const char *host, char *reason, size_t size) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return graft_certificates_open(path, host, reason, size);
}

static void *shake(void *end) {
  struct end *e = end;
  struct graft_certificates *own = files_of(e->files, e->host, e->reason, sizeof e->reason);
  if (!own) abort();
  e->result = graft_certificates_authenticate(own, e->fd, e->limit, &e->node, e->reason, sizeof e->reason);
  graft_certificates_close(own);
  /* As the client does, at once. */
  if (e->host && e->result == GRAFT_NODE_KNOWN) send(e->fd, PROOF, sizeof PROOF, MSG_NOSIGNAL);
  if (e->result != GRAFT_NODE_KNOWN) shutdown(e->fd, SHUT_RDWR);
  return NULL;
}

static void shake_both(struct end *client, struct end *server) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, shake, server)) abort();
  shake(client);
  pthread_join(thread, NULL);
}

struct both {
  struct end client, server;
};

/* The result of two ends that are connected; the sockets stay open. */
static struct both *meet(const char *client, const char *host, const char *server) {
  static struct both both;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) abort();
  both = (struct both){.client = {.fd = ends[0], .host = host, .files = client, .limit = LIMIT},
                       .server = {.fd = ends[1], .files = server, .limit = LIMIT}};
  shake_both(&both.client, &both.server);
  return &both;
}

static void part(struct both *both) {
  close(both->client.fd);
  close(both->server.fd);
}

/* ---- Tests ---- */

/* Both ends know the same secret, another one in each connection, and nothing of the handshake is left on the socket. */
static void both_are_known(void) {
  static const char *const hosts[] = {"localhost", "LOCALHOST", "gpu.cluster.example", "127.0.0.1", "::1"};
  uint8_t before[GRAFT_NODE_SECRET] = {0};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    char got[2 * sizeof PROOF];
    struct both *both = meet("good", hosts[i], "good");
    CHECK(both->client.result == GRAFT_NODE_KNOWN && both->server.result == GRAFT_NODE_KNOWN);
    CHECK(!memcmp(both->client.node.secret, both->server.node.secret, sizeof before));
    CHECK(memcmp(both->client.node.secret, before, sizeof before));
    memcpy(before, both->client.node.secret, sizeof before);
    CHECK(recv(both->server.fd, got, sizeof got, MSG_DONTWAIT) == sizeof PROOF && !memcmp(got, PROOF, sizeof PROOF));
    CHECK(recv(both->client.fd, got, sizeof got, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    CHECK(memmem(both->server.node.certificate, both->server.node.bytes, "node07.cluster.example", 22));
    CHECK(memmem(both->client.node.certificate, both->client.node.bytes, "gpu.cluster.example", 19));
    part(both);
  }
}

/* Who is refused, and what the server says of it. A client's problem is found by the server, which has completed the handshake then. */
static void wrong_clients_are_refused(void) {
  static const struct {
    const char *client, *server, *words;
  } cases[] = {
      {"stranger", "good", "unable to get local issuer certificate"},
      {"self", "good", "self"},
      {"expired", "good", "certificate has expired"},
      {"early", "good", "certificate is not yet valid"},
      {"purpose", "good", "purpose"},
      {"revoked", "lists", "certificate revoked"},
      {"good", "old-list", "CRL has expired"},
      {"good", "other-list", "unable to get certificate CRL"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const uint8_t nothing[sizeof(struct graft_node)];
    struct both *both = meet(cases[i].client, "localhost", cases[i].server);
    CHECK(both->server.result == GRAFT_NODE_REFUSED);
    CHECK(!memcmp(&both->server.node, nothing, sizeof both->server.node));
    CHECK(strstr(both->server.reason, "the client's certificate is refused") && strstr(both->server.reason, cases[i].words));
    if (!strstr(both->server.reason, cases[i].words)) printf("%s: %s\n", cases[i].client, both->server.reason);
    part(both);
  }
}

static void right_clients_are_known(void) {
  static const char *const cases[][2] = {{"common", "good"}, {"chain", "good"},  {"elsewhere", "good"},
                                         {"good", "lists"},  {"lists", "lists"}, {"soon", "soon"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct both *both = meet(cases[i][0], "localhost", cases[i][1]);
    CHECK(both->client.result == GRAFT_NODE_KNOWN && both->server.result == GRAFT_NODE_KNOWN);
    if (both->server.result != GRAFT_NODE_KNOWN) printf("%s: %s\n", cases[i][0], both->server.reason);
    part(both);
  }
}

/* The client ends the handshake, so that such a server does not even learn who the client is. */
static void wrong_servers_are_refused(void) {
  static const struct {
    const char *client, *host, *server, *words;
  } cases[] = {
      {"good", "localhost", "other-host", "not for localhost"},
      {"good", "127.0.0.1", "other-host", "not for 127.0.0.1"},
      {"good", "server", "good", "not for server"}, /* its common name, beside alternative names */
      {"good", "localhost.example", "good", "not for localhost.example"},
      {"good", "127.0.0.2", "good", "not for 127.0.0.2"},
      {"good", "localhost", "server-stranger", "issuer"},
      {"good", "localhost", "server-expired", "expired"},
      {"good", "localhost", "server-purpose", "purpose"},
      {"old-list", "localhost", "good", "CRL has expired"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct both *both = meet(cases[i].client, cases[i].host, cases[i].server);
    CHECK(both->client.result == GRAFT_NODE_REFUSED && strstr(both->client.reason, cases[i].words));
    if (!strstr(both->client.reason, cases[i].words)) printf("%s: %s\n", cases[i].server, both->client.reason);
    CHECK(both->server.result == GRAFT_NODE_BROKEN && strstr(both->server.reason, "TLS handshake with certificates failed"));
    CHECK(!both->server.node.bytes);
    part(both);
  }
}

static void wrong_files_are_named(void) {
  static const struct {
    const char *files, *words[2];
  } cases[] = {
      {"none", {"/none/CA/cacert.pem is not there", "libvirt's layout"}},
      {"password", {"/private/serverkey.pem", "without a password"}},
      {"open", {"/private/serverkey.pem is open to all users", "chmod 640"}},
      {"other-key", {"/private/serverkey.pem", "does not hold the certificate's private key"}},
      {"garbage", {"/servercert.pem does not hold a certificate", ""}},
      {"garbage-list", {"/CA/cacrl.pem does not hold the list of revoked certificates", ""}},
      {"no-key", {"/private/serverkey.pem is not there", "private key"}},
  };
  char command[1024], reason[500];
  snprintf(command, sizeof command,
           "cd %s && for f in open other-key garbage garbage-list no-key group; do cp -a good $f; done && "
           "chmod 644 open/libvirt/private/serverkey.pem && chmod 640 group/libvirt/private/serverkey.pem && "
           "cp good/libvirt/private/clientkey.pem other-key/libvirt/private/serverkey.pem && "
           "echo nothing > garbage/libvirt/servercert.pem && echo nothing > garbage-list/CA/cacrl.pem && "
           "rm no-key/libvirt/private/serverkey.pem",
           folder);
  CHECK(!system(command));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct graft_certificates *own = files_of(cases[i].files, NULL, reason, sizeof reason);
    CHECK(!own && strstr(reason, cases[i].words[0]) && strstr(reason, cases[i].words[1]));
    if (!strstr(reason, cases[i].words[0])) printf("%s: %s\n", cases[i].files, reason);
    graft_certificates_close(own);
  }
  struct graft_certificates *own = files_of("group", NULL, reason, sizeof reason);
  CHECK(own);
  graft_certificates_close(own);
}

/* OpenSSL would take any certificate for an empty host. */
static void a_host_is_needed(void) {
  char reason[500], host[300];
  memset(host, 'h', sizeof host - 1);
  host[sizeof host - 1] = 0;
  CHECK(!files_of("good", "", reason, sizeof reason) && strstr(reason, "names no host"));
  CHECK(!files_of("good", host, reason, sizeof reason) && strstr(reason, "names no host"));
}

/* ---- A relay, which changes a byte of what the client sends ---- */

struct relay {
  int ends[2], change;
  int sent; /* by the client; known once the relay has ended */
};

static void *relay(void *relay) {
  struct relay *r = relay;
  struct timeval slow = {.tv_usec = 20000};
  uint8_t data[4096];
  setsockopt(r->ends[0], SOL_SOCKET, SO_RCVTIMEO, &slow, sizeof slow);
  setsockopt(r->ends[1], SOL_SOCKET, SO_RCVTIMEO, &slow, sizeof slow);
  for (int open = 3; open;) {
    for (int from = 0; from < 2; from++) {
      ssize_t n = open & (1 << from) ? recv(r->ends[from], data, sizeof data, 0) : -1;
      if (n == 0) {
        open = 0;
        shutdown(r->ends[1 - from], SHUT_RDWR);
      }
      if (n <= 0) continue;
      if (!from && r->change >= r->sent && r->change < r->sent + n) data[r->change - r->sent] ^= 1;
      if (!from) r->sent += (int)n;
      if (send(r->ends[1 - from], data, (size_t)n, MSG_NOSIGNAL) != n) open = 0;
    }
  }
  shutdown(r->ends[0], SHUT_RDWR);
  shutdown(r->ends[1], SHUT_RDWR);
  return NULL;
}

/* Whatever is changed, the server knows no client by it: nobody has the secret of a handshake that he changed. */
static void a_relay_changes_nothing(void) {
  int known = 0, tried = 0;
  for (int at = 0; at < 1400; at += 31) {
    int near[2], far[2];
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, near) || socketpair(AF_UNIX, SOCK_STREAM, 0, far)) abort();
    struct relay line = {.ends = {near[1], far[0]}, .change = at};
    static struct both both;
    both = (struct both){.client = {.fd = near[0], .host = "localhost", .files = "good", .limit = LIMIT},
                         .server = {.fd = far[1], .files = "good", .limit = LIMIT}};
    if (pthread_create(&thread, NULL, relay, &line)) abort();
    shake_both(&both.client, &both.server);
    shutdown(near[0], SHUT_RDWR);
    pthread_join(thread, NULL);
    int handshake = line.sent - (both.client.result == GRAFT_NODE_KNOWN ? (int)sizeof PROOF : 0);
    bool is_same = !memcmp(both.client.node.secret, both.server.node.secret, GRAFT_NODE_SECRET);
    if (at < handshake) CHECK(both.server.result != GRAFT_NODE_KNOWN);
    if (both.server.result == GRAFT_NODE_KNOWN) CHECK(at >= handshake && both.client.result == GRAFT_NODE_KNOWN && is_same);
    known += both.server.result == GRAFT_NODE_KNOWN;
    tried += at < handshake;
    part(&both);
    close(near[1]);
    close(far[0]);
  }
  CHECK(tried > 20 && known > 0);
}

/* ---- A peer that does not speak TLS, or not to the end ---- */

struct peer {
  int fd;
  const uint8_t *bytes;
  size_t count;
  bool waits; /* and never closes the connection */
};

static void *misbehave(void *peer) {
  struct peer *p = peer;
  char waste[4096];
  send(p->fd, p->bytes, p->count, MSG_NOSIGNAL);
  if (!p->waits) shutdown(p->fd, SHUT_WR);
  while (recv(p->fd, waste, sizeof waste, 0) > 0) {}
  return NULL;
}

static const char *refusal(const char *host, const uint8_t *bytes, size_t count, bool waits, int limit) {
  static struct end end;
  struct timespec before, after;
  int ends[2];
  pthread_t thread;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  struct peer peer = {ends[1], bytes, count, waits};
  if (pthread_create(&thread, NULL, misbehave, &peer)) abort();
  end = (struct end){.fd = ends[0], .host = host, .files = "good", .limit = limit};
  clock_gettime(CLOCK_MONOTONIC, &before);
  shake(&end);
  clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK(end.result == GRAFT_NODE_BROKEN && after.tv_sec - before.tv_sec < limit / 1000 + 5);
  close(ends[0]);
  pthread_join(thread, NULL);
  close(ends[1]);
  return end.reason;
}

static void hostile_peers_are_refused(void) {
  static uint8_t garbage[4096], hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9}, reply[] = {22, 3, 3, 0, 90, 2, 0, 0, 86, 3, 3},
                                huge[] = {22, 3, 1, 0xff, 0xff, 1, 0xff, 0xff, 0xff},
                                mixed[600] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
  for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (uint8_t)(i * i * 31 + 7);
  memcpy(mixed + 12, garbage, sizeof mixed - 12); /* garbage behind the beginning of a ClientHello */
  for (int server = 0; server < 2; server++) {
    const char *host = server ? NULL : "localhost", *failed = "the TLS handshake with certificates failed";
    CHECK(strstr(refusal(host, garbage, sizeof garbage, true, LIMIT), failed));
    CHECK(strstr(refusal(host, mixed, sizeof mixed, true, LIMIT), failed));
    CHECK(strstr(refusal(host, server ? hello : reply, sizeof reply, false, LIMIT), failed));
    CHECK(strstr(refusal(host, huge, sizeof huge, true, LIMIT), failed));
    CHECK(strstr(refusal(host, server ? hello : reply, sizeof reply, true, 300), "did not answer in time"));
    CHECK(strstr(refusal(host, hello, 0, false, LIMIT), failed));
  }
}

/* ---- A peer that uses OpenSSL otherwise ---- */

struct other {
  int fd;
  bool server, old, anonymous; /* old: TLS 1.2 only */
  bool done;
};

static void *shake_otherwise(void *other) {
  struct other *o = other;
  char why[300], file[400];
  const struct graft_tls_library *l = graft_tls_library(why, sizeof why);
  int (*set_fd)(SSL *, int) = (int (*)(SSL *, int))dlsym(dlopen("libssl.so.3", RTLD_NOW), "SSL_set_fd");
  if (!l || !set_fd) abort();
  SSL_CTX *context = l->SSL_CTX_new(l->TLS_method());
  if (o->old) l->SSL_CTX_ctrl(context, CTRL_MAX_VERSION, TLS_1_2, NULL);
  const char *end = o->server ? "server" : "client";
  snprintf(file, sizeof file, "%s/good/libvirt/%scert.pem", folder, end);
  if (!o->anonymous && l->SSL_CTX_use_certificate_chain_file(context, file) != 1) abort();
  snprintf(file, sizeof file, "%s/good/libvirt/private/%skey.pem", folder, end);
  if (!o->anonymous && l->SSL_CTX_use_PrivateKey_file(context, file, FILE_IS_PEM) != 1) abort();
  SSL *ssl = l->SSL_new(context);
  set_fd(ssl, o->fd);
  if (o->server) l->SSL_set_accept_state(ssl);
  if (!o->server) l->SSL_set_connect_state(ssl);
  o->done = l->SSL_do_handshake(ssl) == 1;
  l->SSL_free(ssl);
  l->SSL_CTX_free(context);
  l->ERR_clear_error();
  shutdown(o->fd, SHUT_WR);
  return NULL;
}

static struct end *against(struct other *other, const char *host) {
  static struct end end;
  int ends[2];
  pthread_t thread;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  other->fd = ends[1];
  if (pthread_create(&thread, NULL, shake_otherwise, other)) abort();
  end = (struct end){.fd = ends[0], .host = host, .files = "good", .limit = LIMIT};
  shake(&end);
  pthread_join(thread, NULL);
  close(ends[0]);
  close(ends[1]);
  return &end;
}

static void other_settings_are_refused(void) {
  struct end *end = against(&(struct other){.server = false}, NULL);
  CHECK(end->result == GRAFT_NODE_KNOWN); /* the peer of the other cases, without what is wrong there */
  end = against(&(struct other){.old = true}, NULL);
  CHECK(end->result == GRAFT_NODE_BROKEN && strstr(end->reason, "unsupported protocol"));
  end = against(&(struct other){.anonymous = true}, NULL);
  CHECK(end->result == GRAFT_NODE_BROKEN && strstr(end->reason, "did not return a certificate"));
  struct other old = {.server = true, .old = true}, indifferent = {.server = true};
  end = against(&old, "localhost");
  CHECK(end->result == GRAFT_NODE_BROKEN && !old.done);
  /* A server that asks for no certificate: it and the client agree on a secret, but Graft's server always asks. */
  end = against(&indifferent, "localhost");
  CHECK(end->result == GRAFT_NODE_KNOWN);
}

/* ---- The configuration ---- */

static void the_host_is_that_of_the_address(void) {
  char host[256];
  const char *port = graft_host_of("gpu.example:7799", host, sizeof host);
  CHECK(port && !strcmp(port, "7799") && !strcmp(host, "gpu.example"));
  port = graft_host_of("[::1]:7", host, sizeof host);
  CHECK(port && !strcmp(port, "7") && !strcmp(host, "::1"));
  CHECK(!graft_host_of("gpu.example", host, sizeof host) && !graft_host_of("gpu.example:", host, sizeof host));
}

static void settings(void) {
  struct graft_config config;
  char reason[900];
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && !config.certificates[0]);
  /* The token is not read: on a node that has a certificate there need not be one. */
  CHECK(config_from("server = tcp://h:1\ntoken-file = /nonexistent\ncertificates = /etc/pki\n", &config, reason) &&
        !strcmp(config.certificates, "/etc/pki") && !config.has_token);
  setenv("GRAFT_CERTIFICATES", "/nowhere", 1);
  CHECK(config_from("server = tcp://localhost:1\n", &config, reason) && !strcmp(config.certificates, "/nowhere"));
  struct graft_session_key key = {0};
  struct graft_connection connection;
  snprintf(config.server, sizeof config.server, "tcp://localhost:1");
  CHECK(!graft_connect_session(&config, &key, &connection, reason, sizeof reason) &&
        strstr(reason, "this machine's certificates cannot be used: /nowhere/CA/cacert.pem is not there"));
  snprintf(config.server, sizeof config.server, "unix:///nowhere.sock");
  CHECK(!graft_connect_session(&config, &key, &connection, reason, sizeof reason) && strstr(reason, "names none"));
  unsetenv("GRAFT_CERTIFICATES");
}

void test_certificates(void) {
  char command[400], reason[400];
  if (!graft_tls_present(reason, sizeof reason)) {
    printf("certificates are not tested: %s\n", reason);
    return;
  }
  if (!mkdtemp(folder)) abort();
  snprintf(command, sizeof command, "test/certificates.sh %s", folder);
  bool made = !system(command);
  CHECK(made);
  if (made) {
    both_are_known();
    right_clients_are_known();
    wrong_clients_are_refused();
    wrong_servers_are_refused();
    wrong_files_are_named();
    a_host_is_needed();
    a_relay_changes_nothing();
    hostile_peers_are_refused();
    other_settings_are_refused();
  }
  the_host_is_that_of_the_address();
  settings();
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
}
