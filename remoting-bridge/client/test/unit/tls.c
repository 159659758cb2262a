/* TLS between the two ends of a socket: what it carries, and what an end that is not the other one cannot do. A relay between the ends
 * keeps what it has seen, and may change it. */
#include "transport/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "transport/connect.h"
#include "transport/dial.h"
#include "transport/transport.h"
#include "unit.h"

#define PLAIN "the weights of a model that nobody else may see"
#define SEEN (8u << 20)
#define LARGE (3u << 20)

static const uint8_t key[GRAFT_TLS_KEY] = {1, 2, 3}, other_key[GRAFT_TLS_KEY] = {1, 2, 4};

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pair(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) abort();
}

/* ---- One end, on a thread ---- */

struct end {
  int fd;
  bool server;
  const uint8_t *key;
  int limit;
  struct graft_tls *tls;
  char reason[400];
};

static void *shake(void *end) {
  struct end *e = end;
  e->tls = graft_tls_open(e->fd, e->server, e->key, e->limit, e->reason, sizeof e->reason);
  if (!e->tls) shutdown(e->fd, SHUT_RDWR); /* as both ends of a session do */
  return NULL;
}

static void shake_both(struct end *client, struct end *server) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, shake, server)) abort();
  shake(client);
  pthread_join(thread, NULL);
}

static void close_end(struct end *e) {
  graft_tls_close(e->tls);
  close(e->fd);
}

static bool receive_all(struct graft_tls *tls, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = graft_tls_receive(tls, (char *)to + done, bytes - done);
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* ---- A relay ---- */

struct relay {
  int ends[2], change; /* change: which byte of what the client sends is changed, from 0; -1 for none */
  pthread_mutex_t lock;
  size_t sent, seen; /* guarded by lock, as memory */
  uint8_t *memory;
};

static void notice(struct relay *r, bool of_client, uint8_t *data, size_t bytes) {
  pthread_mutex_lock(&r->lock);
  if (r->seen + bytes <= SEEN) memcpy(r->memory + r->seen, data, bytes);
  r->seen += bytes;
  size_t change = (size_t)r->change - r->sent;
  if (of_client && r->change >= 0 && (size_t)r->change >= r->sent && change < bytes) data[change] ^= 1;
  if (of_client) r->sent += bytes;
  pthread_mutex_unlock(&r->lock);
}

static void pass_on(struct relay *r, int from) {
  uint8_t buffer[65536];
  ssize_t n;
  while ((n = recv(r->ends[from], buffer, sizeof buffer, 0)) > 0) {
    notice(r, !from, buffer, (size_t)n);
    if (send(r->ends[1 - from], buffer, (size_t)n, MSG_NOSIGNAL) != n) break;
  }
  shutdown(r->ends[0], SHUT_RDWR);
  shutdown(r->ends[1], SHUT_RDWR);
}

static void *pass_up(void *relay) {
  pass_on(relay, 0);
  return NULL;
}

static void *pass_down(void *relay) {
  pass_on(relay, 1);
  return NULL;
}

static size_t seen_by(struct relay *r) {
  pthread_mutex_lock(&r->lock);
  size_t seen = r->seen;
  pthread_mutex_unlock(&r->lock);
  return seen;
}

struct line {
  struct end client, server;
  struct relay relay;
  pthread_t up, down;
};

/* Two ends with a relay between them. */
static void open_line(struct line *line, int change) {
  int near[2], far[2];
  pair(near);
  pair(far);
  *line = (struct line){.client = {.fd = near[0], .key = key, .limit = 10000},
                        .server = {.fd = far[1], .server = true, .key = key, .limit = 10000},
                        .relay = {.ends = {near[1], far[0]}, .change = change, .memory = calloc(1, SEEN)}};
  pthread_mutex_init(&line->relay.lock, NULL);
  if (!line->relay.memory || pthread_create(&line->up, NULL, pass_up, &line->relay) ||
      pthread_create(&line->down, NULL, pass_down, &line->relay)) {
    abort();
  }
  shake_both(&line->client, &line->server);
}

static void close_line(struct line *line) {
  close_end(&line->client);
  close_end(&line->server);
  pthread_join(line->up, NULL);
  pthread_join(line->down, NULL);
  close(line->relay.ends[0]);
  close(line->relay.ends[1]);
  free(line->relay.memory);
}

/* ---- Tests ---- */

static void *send_large(void *tls) {
  uint8_t *data = malloc(LARGE);
  if (!data) abort();
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 7 + i / 4096);
  bool all = graft_tls_send(tls, data, LARGE, false) == LARGE;
  free(data);
  return all ? tls : NULL;
}

static void *receive_large(void *tls) {
  uint8_t *data = calloc(1, LARGE);
  bool same = data && receive_all(tls, data, LARGE);
  for (size_t i = 0; same && i < LARGE; i++) same = data[i] == (uint8_t)(i * 7 + i / 4096);
  free(data);
  return same ? tls : NULL;
}

/* Both directions at once, from a thread each, as the data connections do. */
static void carries_all(void) {
  struct line line;
  open_line(&line, -1);
  CHECK(line.client.tls && line.server.tls);
  if (!line.client.tls || !line.server.tls) abort();
  void *(*const work[])(void *) = {send_large, send_large, receive_large, receive_large};
  struct graft_tls *ends[] = {line.client.tls, line.server.tls, line.client.tls, line.server.tls};
  pthread_t threads[4];
  char part[100];
  CHECK(graft_tls_try(line.client.tls, part, sizeof part) == -1 && errno == EAGAIN);
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[i], NULL, work[i], ends[i])) abort();
  }
  for (int i = 0; i < 4; i++) {
    void *done;
    pthread_join(threads[i], &done);
    CHECK(done);
  }
  /* A record that is taken in parts, as a header and its data are. */
  CHECK(graft_tls_send(line.client.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN);
  CHECK(receive_all(line.server.tls, part, 5) && graft_tls_try(line.server.tls, part + 5, sizeof part) == sizeof PLAIN - 5);
  CHECK(!memcmp(part, PLAIN, sizeof PLAIN));
  shutdown(line.client.fd, SHUT_RDWR);
  CHECK(graft_tls_receive(line.server.tls, part, sizeof part) == 0);
  close_line(&line);
}

/* How many KeyUpdates the relay has seen: no other record is so short, and data that looks so is improbable. */
static int updates_seen(const struct relay *r) {
  static const uint8_t start[] = {23, 3, 3, 0, 5 + 1 + 16};
  int count = 0;
  const uint8_t *at = r->memory, *end = r->memory + r->seen;
  while ((at = memmem(at, (size_t)(end - at), start, sizeof start))) {
    at++;
    count++;
  }
  return count;
}

/* Both directions at once get new keys after so many records, which lose nothing. */
static void keys_are_renewed(void) {
  struct line line;
  pthread_t threads[4];
  void *done;
  open_line(&line, -1);
  if (!line.client.tls || !line.server.tls) abort();
  CHECK(updates_seen(&line.relay) == 0);
  graft_tls_limit_key(line.client.tls, 10);
  graft_tls_limit_key(line.server.tls, 50);
  void *(*const work[])(void *) = {send_large, send_large, receive_large, receive_large};
  struct graft_tls *ends[] = {line.client.tls, line.server.tls, line.client.tls, line.server.tls};
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[i], NULL, work[i], ends[i])) abort();
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &done);
    CHECK(done);
  }
  CHECK(line.relay.seen < SEEN && updates_seen(&line.relay) == (LARGE / 16384 - 1) / 10 + (LARGE / 16384 - 1) / 50);
  close_line(&line);
}

static void a_relay_reads_nothing(void) {
  struct line line;
  char got[sizeof PLAIN];
  open_line(&line, -1);
  CHECK(graft_tls_send(line.client.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN &&
        receive_all(line.server.tls, got, sizeof got));
  CHECK(graft_tls_send(line.server.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN &&
        receive_all(line.client.tls, got, sizeof got));
  CHECK(line.relay.seen > 2 * sizeof PLAIN && line.relay.seen < SEEN);
  CHECK(!memmem(line.relay.memory, line.relay.seen, PLAIN, 8) && !memmem(line.relay.memory, line.relay.seen, key, sizeof key));
  close_line(&line);
}

/* A changed byte anywhere ends the handshake or the connection: bytes of the first message, and of a record behind the handshake. */
static void a_relay_changes_nothing(void) {
  struct line line;
  for (int at = 0; at < 600; at += 37) {
    char got[sizeof PLAIN];
    open_line(&line, at);
    bool open = line.client.tls && line.server.tls;
    bool whole = open && graft_tls_send(line.client.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN &&
                 receive_all(line.server.tls, got, sizeof got);
    CHECK(line.relay.sent <= (size_t)at ? whole : !whole);
    if (open && !whole) CHECK(errno == EPROTO || errno == EAGAIN || errno == 0);
    close_line(&line);
  }
}

/* A record of the relay's own, in place of the client's or behind it. */
static void a_relay_injects_nothing(void) {
  static const struct {
    uint8_t bytes[40];
    size_t count;
  } records[] = {
      {{23, 3, 3, 0, 20, 1, 2, 3}, 25},            /* data under another key */
      {{21, 3, 3, 0, 2, 1, 0}, 7},                 /* an alert that is not encrypted */
      {{22, 3, 3, 0, 4, 0, 0, 0, 0}, 9},           /* HelloRequest, which asked for a renegotiation before TLS 1.3 */
      {{22, 3, 3, 0, 5, 24, 0, 0, 1, 1}, 10},      /* KeyUpdate that is not encrypted */
      {{23, 3, 3, 0xff, 0xff, 1, 2, 3}, 40},       /* longer than a record may be */
      {{'G', 'E', 'T', ' ', '/', '\r', '\n'}, 40}, /* another protocol */
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    struct line line;
    char got[100];
    open_line(&line, -1);
    if (!line.client.tls || !line.server.tls) abort();
    struct graft_tls *both[] = {line.server.tls, line.client.tls};
    for (int end = 0; end < 2; end++) {
      CHECK(send(line.relay.ends[1 - end], records[i].bytes, records[i].count, MSG_NOSIGNAL) == (ssize_t)records[i].count);
      errno = 0;
      CHECK(graft_tls_receive(both[end], got, sizeof got) == -1 && errno == EPROTO);
      CHECK(graft_tls_receive(both[end], got, sizeof got) == -1); /* an end that has failed stays so */
    }
    close_line(&line);
  }
}

/* The same connection's own records, once they have been received, behind a record that nobody sent. */
static void nothing_comes_twice(void) {
  static const uint8_t strange[25] = {23, 3, 3, 0, 20, 9, 9, 9};
  for (int between = 0; between < 2; between++) {
    struct line line;
    char got[100];
    open_line(&line, -1);
    size_t before = seen_by(&line.relay);
    CHECK(graft_tls_send(line.client.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN &&
          receive_all(line.server.tls, got, sizeof PLAIN));
    size_t bytes = seen_by(&line.relay) - before;
    if (between) CHECK(send(line.relay.ends[1], strange, sizeof strange, MSG_NOSIGNAL) == sizeof strange);
    CHECK(send(line.relay.ends[1], line.relay.memory + before, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
    CHECK(graft_tls_receive(line.server.tls, got, sizeof got) == -1 && errno == EPROTO);
    close_line(&line);
  }
}

/* What was recorded in one connection means nothing in another one with the same key. */
static void nothing_can_be_replayed(void) {
  struct line first, second;
  char got[100];
  open_line(&first, -1);
  size_t before = seen_by(&first.relay);
  CHECK(graft_tls_send(first.client.tls, PLAIN, sizeof PLAIN, false) == sizeof PLAIN &&
        receive_all(first.server.tls, got, sizeof PLAIN));
  open_line(&second, -1);
  size_t bytes = seen_by(&first.relay) - before;
  CHECK(send(second.relay.ends[1], first.relay.memory + before, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
  CHECK(graft_tls_receive(second.server.tls, got, sizeof got) == -1 && errno == EPROTO);
  close_line(&first);
  close_line(&second);
}

static void another_key_is_refused(void) {
  int ends[2];
  pair(ends);
  struct end client = {.fd = ends[0], .key = other_key, .limit = 10000};
  struct end server = {.fd = ends[1], .server = true, .key = key, .limit = 10000};
  shake_both(&client, &server);
  CHECK(!client.tls && strstr(client.reason, "the TLS handshake failed"));
  CHECK(!server.tls && strstr(server.reason, "the TLS handshake failed"));
  close_end(&client);
  close_end(&server);
}

/* ---- An end that does not speak TLS, or not to the end ---- */

struct peer {
  int fd;
  const uint8_t *bytes;
  size_t count;
  bool slowly; /* a byte each 20 ms, without an end */
};

static void *misbehave(void *peer) {
  struct peer *p = peer;
  for (size_t i = 0; p->slowly; i++) {
    struct timespec pause = {0, 20000000};
    if (send(p->fd, &p->bytes[i % p->count], 1, MSG_NOSIGNAL) != 1) return NULL;
    nanosleep(&pause, NULL);
  }
  send(p->fd, p->bytes, p->count, MSG_NOSIGNAL);
  shutdown(p->fd, SHUT_WR);
  char waste[4096];
  while (recv(p->fd, waste, sizeof waste, 0) > 0) {}
  return NULL;
}

/* The reason for which an end refuses such a peer; at the latest when its time is over. */
static const char *refusal(bool server, const uint8_t *bytes, size_t count, bool slowly, int limit) {
  static struct end end;
  int ends[2];
  pair(ends);
  struct peer peer = {ends[1], bytes, count, slowly};
  pthread_t thread;
  if (pthread_create(&thread, NULL, misbehave, &peer)) abort();
  end = (struct end){.fd = ends[0], .server = server, .key = key, .limit = limit};
  int64_t before = milliseconds();
  shake(&end);
  CHECK(!end.tls && milliseconds() - before < limit + 5000);
  close_end(&end);
  pthread_join(thread, NULL);
  close(ends[1]);
  return end.reason;
}

static void hostile_peers_are_refused(void) {
  /* A ClientHello and a ServerHello that end in the middle, and a record whose bytes come one by one for ever. */
  static uint8_t garbage[4096], hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9}, reply[] = {22, 3, 3, 0, 90, 2, 0, 0, 86, 3, 3},
                                huge[] = {22, 3, 1, 0xff, 0xff, 1, 0xff, 0xff, 0xff},
                                slow[] = {22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc};
  for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (uint8_t)(i * i * 31 + 7);
  for (int server = 0; server < 2; server++) {
    CHECK(strstr(refusal(server, garbage, sizeof garbage, false, 10000), "the TLS handshake failed"));
    CHECK(strstr(refusal(server, server ? hello : reply, sizeof reply, false, 10000), "closed the connection"));
    CHECK(strstr(refusal(server, huge, sizeof huge, false, 10000), "the TLS handshake failed"));
    CHECK(strstr(refusal(server, slow, sizeof slow, true, 300), "did not answer in time"));
    CHECK(strstr(refusal(server, slow, 0, false, 10000), "closed the connection"));
  }
}

/* ---- Who decides ---- */

/* A connected TCP socket whose other end is at an address of this machine. */
static int connected_to(const char *address) {
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t length = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1) abort();
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&at, &length) || connect(fd, (struct sockaddr *)&at, sizeof at))
    abort();
  if (accept(listener, NULL, NULL) < 0) abort(); /* and stays open, since the address of a connection that has ended is not known */
  close(listener);
  return fd;
}

static void the_address_decides(void) {
  int ends[2], unconnected = socket(AF_INET, SOCK_STREAM, 0);
  pair(ends);
  int loopback = connected_to("127.0.0.1"), another = connected_to("127.8.8.8");
  CHECK(!graft_leaves_machine(loopback) && graft_is_tcp(loopback) && !graft_leaves_machine(another));
  CHECK(!graft_leaves_machine(ends[0]) && !graft_is_tcp(ends[0]));
  CHECK(graft_leaves_machine(unconnected)); /* what is not known to be private is not */
  close(loopback);
  close(another);
  close(ends[0]);
  close(ends[1]);
  close(unconnected);
}

static void settings(void) {
  struct graft_config config;
  char reason[400];
  unsetenv("GRAFT_ENCRYPTION");
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && config.encryption == GRAFT_ENCRYPTION_AUTO);
  CHECK(config_from("server = tcp://h:1\nencryption = never\n", &config, reason) && config.encryption == GRAFT_ENCRYPTION_NEVER);
  CHECK(!config_from("server = tcp://h:1\nencryption = maybe\n", &config, reason) && strstr(reason, "auto, always or never"));
  setenv("GRAFT_ENCRYPTION", "always", 1);
  CHECK(config_from("server = tcp://h:1\nencryption = never\n", &config, reason) && config.encryption == GRAFT_ENCRYPTION_ALWAYS);
  unsetenv("GRAFT_ENCRYPTION");
}

void test_tls(void) {
  char reason[400];
  settings();
  the_address_decides();
  if (!graft_tls_present(reason, sizeof reason)) {
    printf("TLS is not tested: %s\n", reason);
    CHECK(strstr(reason, "libssl3") && strstr(reason, "openssl-libs"));
    return;
  }
  carries_all();
  keys_are_renewed();
  a_relay_reads_nothing();
  a_relay_changes_nothing();
  a_relay_injects_nothing();
  nothing_comes_twice();
  nothing_can_be_replayed();
  another_key_is_refused();
  hostile_peers_are_refused();
}
