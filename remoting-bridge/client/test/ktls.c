/* What is sent by the kernel's TLS, against this implementation's records and OpenSSL's. A kernel has TLS only where its module is loaded, so
 * that the tests bring a stand-in for it, which takes the place of the C library's functions and encrypts with the keys it is given. lab/ktls-test
 * runs them on kernels that have it.
 *
 *   ktls           with the stand-in
 *   ktls kernel    with this machine's kernel, which can replace keys
 *   ktls earlier   with this machine's kernel, which has TLS and cannot
 */
#include "transport/ktls.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openssl_end.h"
#include "transport/tls.h"

#define COUNTERS "/proc/self/net/tls_stat"
#define DESCRIPTORS 256

static int passed, failed;

#define CHECK(condition)                                                       \
  do {                                                                         \
    bool holds = (condition);                                                  \
    __atomic_add_fetch(holds ? &passed : &failed, 1, __ATOMIC_RELAXED);        \
    if (!holds) printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
  } while (0)

/* ---- The kernel, or the stand-in for it ---- */

/* What is refused, in place of the kernel. Where the kernel's own TLS is used, it gets a key that it refuses itself. */
enum lack { NOTHING, MODULE, REPLACING, TLS_AT_ALL, FIRST_KEY, SECOND_KEY };

static bool is_real; /* the kernel's own TLS is used */
static enum lack lacks;
static int keys_given, messages; /* by this process, since test began; one thread sends in each test that counts */

struct stand_in {
  bool has_tls, has_key;
  EVP_CIPHER_CTX *cipher;
  uint8_t nonce[12], record[TLS_RECORD];
  uint64_t number;
  size_t bytes; /* of the record that has begun */
  unsigned calls;
};
static struct stand_in stand_ins[DESCRIPTORS];

FILE *fopen(const char *path, const char *mode) {
  static char counters[] = "TlsTxSw                         \t0\nTlsTxRekeyOk                    \t0\n";
  FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
  bool is_counters = !strcmp(path, COUNTERS);
  errno = ENOENT;
  if (is_counters && lacks == MODULE) return NULL;
  if (is_counters && lacks == REPLACING) return fmemopen(counters, strlen("TlsTxSw                         \t0\n"), "r");
  return is_counters && !is_real ? fmemopen(counters, sizeof counters - 1, "r") : next(path, mode);
}

static int take_key(struct stand_in *s, const struct tls12_crypto_info_aes_gcm_128 *info, socklen_t bytes) {
  errno = EINVAL;
  if (!s->has_tls || bytes != sizeof *info || info->info.version != TLS_1_3_VERSION ||
      info->info.cipher_type != TLS_CIPHER_AES_GCM_128)
    return -1;
  if (!s->cipher) s->cipher = lib->EVP_CIPHER_CTX_new();
  if (!s->cipher || s->bytes || !lib->EVP_CipherInit_ex(s->cipher, lib->EVP_aes_128_gcm(), NULL, info->key, NULL, 1)) abort();
  memcpy(s->nonce, info->salt, 4);
  memcpy(s->nonce + 4, info->iv, 8);
  s->number = 0;
  for (unsigned i = 0; i < 8; i++) s->number = s->number << 8 | info->rec_seq[i];
  s->has_key = true;
  return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes) {
  struct tls12_crypto_info_aes_gcm_128 changed;
  bool is_ulp = level == IPPROTO_TCP && name == TCP_ULP, is_key = level == SOL_TLS && name == TLS_TX;
  if (is_key && ++keys_given == (lacks == FIRST_KEY ? 1 : lacks == SECOND_KEY ? 2 : 0)) {
    memcpy(&changed, value, sizeof changed);
    changed.info.cipher_type = 999;
    value = &changed;
  }
  errno = ENOENT;
  if (is_ulp && lacks == TLS_AT_ALL) return -1;
  if ((!is_ulp && !is_key) || is_real) return (int)syscall(SYS_setsockopt, fd, level, name, value, bytes);
  if (is_key) return take_key(&stand_ins[fd], value, bytes);
  int domain = 0;
  socklen_t size = sizeof domain;
  errno = EOPNOTSUPP;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_INET || strcmp(value, "tls")) return -1;
  stand_ins[fd].has_tls = true;
  return 0;
}

static ssize_t send_plainly(int fd, const void *data, size_t bytes, int flags) {
  return syscall(SYS_sendto, fd, data, bytes, flags, NULL, 0);
}

/* Sends the record that has begun, in several parts. */
static bool end_record(int fd, uint8_t type) {
  struct stand_in *s = &stand_ins[fd];
  size_t length = s->bytes + 1 + TLS_TAG, all = TLS_HEADER + length;
  uint8_t record[TLS_RECORD + TLS_ADDED] = {TLS_DATA, 3, 3, (uint8_t)(length >> 8), (uint8_t)length}, nonce[12];
  int n;
  memcpy(nonce, s->nonce, sizeof nonce);
  for (unsigned i = 0; i < 8; i++) nonce[11 - i] ^= (uint8_t)(s->number >> 8 * i);
  s->number++;
  if (!lib->EVP_CipherInit_ex(s->cipher, NULL, NULL, NULL, nonce, 1) ||
      !lib->EVP_CipherUpdate(s->cipher, NULL, &n, record, TLS_HEADER) ||
      (s->bytes && !lib->EVP_CipherUpdate(s->cipher, record + TLS_HEADER, &n, s->record, (int)s->bytes)) ||
      !lib->EVP_CipherUpdate(s->cipher, record + TLS_HEADER + s->bytes, &n, &type, 1) ||
      !lib->EVP_CipherFinal_ex(s->cipher, record + all - TLS_TAG, &n) ||
      !lib->EVP_CIPHER_CTX_ctrl(s->cipher, AEAD_GET_TAG, TLS_TAG, record + all - TLS_TAG))
    abort();
  s->bytes = 0;
  for (size_t done = 0; done < all;) {
    ssize_t sent = send_plainly(fd, record + done, all - done, MSG_NOSIGNAL);
    if (sent < 0) return false;
    done += (size_t)sent;
  }
  return true;
}

/* As send(2) on a socket with TLS. Takes less than everything, and fails now and then for no reason, as a kernel may. When the connection has
 * ended it reports success every other time, as Linux 7.3 does. */
static ssize_t send_encrypted(int fd, uint8_t type, const uint8_t *data, size_t bytes, bool more) {
  struct stand_in *s = &stand_ins[fd];
  unsigned call = s->calls++;
  if (type == TLS_DATA && call % 7 == 3) {
    errno = call % 2 ? EAGAIN : EINTR;
    return -1;
  }
  if (type != TLS_DATA && s->bytes && !end_record(fd, TLS_DATA)) return -1;
  size_t take = type == TLS_DATA && bytes > 50000 ? 50000 : bytes;
  for (size_t done = 0; done < take;) {
    size_t room = TLS_RECORD - s->bytes, n = take - done < room ? take - done : room;
    memcpy(s->record + s->bytes, data + done, n);
    s->bytes += n;
    done += n;
    if ((s->bytes == TLS_RECORD || (done == bytes && !more)) && !end_record(fd, type)) return call % 2 ? (ssize_t)take : -1;
  }
  return (ssize_t)take;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags) {
  if (!stand_ins[fd].has_key) return send_plainly(fd, data, bytes, flags);
  return send_encrypted(fd, TLS_DATA, data, bytes, flags & MSG_MORE);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  const struct cmsghdr *control = CMSG_FIRSTHDR(message);
  if (control && control->cmsg_level == SOL_TLS) messages++;
  if (!stand_ins[fd].has_key) return syscall(SYS_sendmsg, fd, message, flags);
  if (message->msg_iovlen != 1 || !control || control->cmsg_level != SOL_TLS || control->cmsg_type != TLS_SET_RECORD_TYPE ||
      control->cmsg_len != CMSG_LEN(1))
    abort();
  return send_encrypted(fd, *CMSG_DATA(control), message->msg_iov->iov_base, message->msg_iov->iov_len, flags & MSG_MORE);
}

/* What the kernel has counted under a name; 0 with the stand-in. */
static long counted(const char *name) {
  char line[100];
  long value = 0;
  FILE *file = is_real ? fopen(COUNTERS, "re") : NULL;
  while (file && fgets(line, sizeof line, file)) {
    char found[60];
    long number;
    if (sscanf(line, "%59s %ld", found, &number) == 2 && !strcmp(found, name)) value = number;
  }
  if (file) fclose(file);
  return value;
}

/* ---- Connections ---- */

static void connect_over_tcp(int ends[2]) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&at, &length) || connect(ends[0], (struct sockaddr *)&at, sizeof at) ||
      (ends[1] = accept(listener, NULL, NULL)) < 0 || ends[0] >= DESCRIPTORS || ends[1] >= DESCRIPTORS)
    abort();
  close(listener);
}

static void close_socket(int fd) {
  if (stand_ins[fd].cipher) lib->EVP_CIPHER_CTX_free(stand_ins[fd].cipher);
  stand_ins[fd] = (struct stand_in){0};
  close(fd);
}

struct pair {
  int ends[2];
  struct graft_tls *client, *server;
};

static void *serve(void *pair) {
  struct pair *p = pair;
  char reason[400];
  p->server = graft_tls_open(p->ends[1], true, key, 10000, reason, sizeof reason);
  return NULL;
}

static struct pair open_pair(enum lack lack, bool over_tcp) {
  struct pair p;
  char reason[400];
  pthread_t thread;
  if (over_tcp) {
    connect_over_tcp(p.ends);
  } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p.ends)) {
    abort();
  }
  lacks = lack;
  keys_given = messages = 0;
  if (pthread_create(&thread, NULL, serve, &p)) abort();
  p.client = graft_tls_open(p.ends[0], false, key, 10000, reason, sizeof reason);
  pthread_join(thread, NULL);
  if (!p.client || !p.server) abort();
  return p;
}

static void close_pair(struct pair *p) {
  graft_tls_close(p->client);
  graft_tls_close(p->server);
  close_socket(p->ends[0]);
  close_socket(p->ends[1]);
}

/* Sends as a data connection does: a header, which leaves with what follows. */
static void *send_all(void *tls) {
  uint8_t *data = malloc(BYTES);
  if (!data) abort();
  for (size_t i = 0; i < BYTES; i++) data[i] = pattern(i);
  bool sent = graft_tls_send(tls, data, 24, true) == 24 && graft_tls_send(tls, data + 24, 100000, true) == 100000 &&
              graft_tls_send(tls, data + 100024, 1, false) == 1 &&
              graft_tls_send(tls, data + 100025, BYTES - 100025, false) == BYTES - 100025;
  free(data);
  return sent ? tls : NULL;
}

static bool receive_all(struct graft_tls *tls) {
  uint8_t *data = malloc(BYTES);
  bool same = data;
  ssize_t n = 1;
  for (size_t done = 0; done < BYTES && n > 0; done += (size_t)n) {
    size_t left = BYTES - done;
    n = graft_tls_receive(tls, data + done, left < 7000 ? left : 7000);
  }
  for (size_t i = 0; i < BYTES; i++) same = same && data[i] == pattern(i);
  free(data);
  return n > 0 && same;
}

static void transfer(struct graft_tls *from, struct graft_tls *to) {
  pthread_t thread;
  void *sent;
  if (pthread_create(&thread, NULL, send_all, from)) abort();
  CHECK(receive_all(to));
  pthread_join(thread, &sent);
  CHECK(sent);
}

/* ---- The tests ---- */

/* Where anything is missing, the process goes on encrypting, and nothing is lost. */
static void a_process_encrypts_where_the_kernel_cannot(enum lack lack, bool over_tcp, const char *why) {
  struct pair p = open_pair(lack, over_tcp);
  char reason[200] = "";
  long before = counted("TlsTxSw");
  transfer(p.client, p.server);
  CHECK(!graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  CHECK(strstr(reason, why));
  if (!strstr(reason, why)) printf("the reason is: %s\n", reason);
  graft_tls_limit_key(p.client, 5);
  transfer(p.client, p.server);
  transfer(p.server, p.client);
  CHECK(keys_given == (lack == FIRST_KEY) && !messages && counted("TlsTxSw") == before);
  close_pair(&p);
}

static void the_other_suite_stays_with_the_process(void) {
  static const uint8_t secret[TLS_SECRET] = {3, 2, 1};
  struct graft_tls_key chacha;
  char reason[200];
  lacks = NOTHING;
  keys_given = 0;
  CHECK(graft_tls_key_open(&chacha, lib, TLS_CHACHA20_POLY1305_SHA256, secret, true));
  CHECK(!graft_ktls_begin(-1, &chacha, reason, sizeof reason) && strstr(reason, "ChaCha20") && !keys_given);
  graft_tls_key_close(&chacha);
}

static void the_kernel_encrypts(void) {
  struct pair p = open_pair(NOTHING, true);
  char reason[200], got[9];
  long before = counted("TlsTxSw");
  /* Records of the process come before those of the kernel, the last one not sent yet. */
  CHECK(graft_tls_send(p.client, "before", 6, false) == 6 && graft_tls_send(p.client, "and", 3, true) == 3);
  CHECK(graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  CHECK(graft_tls_send_by_kernel(p.server, reason, sizeof reason));
  CHECK(graft_tls_receive(p.server, got, 6) == 6 && graft_tls_receive(p.server, got + 6, 3) == 3 && !memcmp(got, "beforeand", 9));
  CHECK(keys_given == 2 && (!is_real || counted("TlsTxSw") == before + 2));
  transfer(p.client, p.server);
  /* 100,025 bytes of which only the last may leave alone, and 99,975 at once, are 7 records each. */
  CHECK(is_real || stand_ins[p.ends[0]].number == 2 + 14);
  transfer(p.server, p.client);
  pthread_t threads[2];
  void *sent[2];
  if (pthread_create(&threads[0], NULL, send_all, p.client) || pthread_create(&threads[1], NULL, send_all, p.server)) abort();
  CHECK(receive_all(p.server) && receive_all(p.client));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &sent[i]);
  CHECK(sent[0] && sent[1] && keys_given == 2 && !messages);
  close_pair(&p);
}

/* 200,000 bytes are 13 records and the rest of a few: with 3 for each key there are 4 new keys at least. */
static void keys_are_replaced(void) {
  struct pair p = open_pair(NOTHING, true);
  char reason[200], got[8];
  long before = counted("TlsTxRekeyOk");
  CHECK(graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  graft_tls_limit_key(p.client, 3);
  transfer(p.client, p.server);
  transfer(p.client, p.server);
  CHECK(keys_given > 8 && messages == keys_given - 1);
  CHECK(!is_real || counted("TlsTxRekeyOk") == before + messages);
  graft_tls_limit_key(p.server, 3); /* the process's, in the other direction */
  transfer(p.server, p.client);
  graft_tls_limit_key(p.client, 1000);
  CHECK(graft_tls_send(p.client, "the", 3, true) == 3 && graft_tls_send(p.client, " end", 4, false) == 4);
  size_t done = 0;
  for (ssize_t n; done < 7 && (n = graft_tls_receive(p.server, got + done, 7 - done)) > 0;) done += (size_t)n;
  CHECK(done == 7 && !memcmp(got, "the end", 7));
  close_pair(&p);
}

/* The kernel sends the message of a new key, and then refuses the key. Not one byte follows: the other end expects the new one. */
static void a_key_that_is_refused_ends_the_connection(void) {
  struct pair p = open_pair(SECOND_KEY, true);
  uint8_t *data = calloc(1, BYTES);
  char reason[200];
  ssize_t n;
  size_t received = 0;
  if (!data) abort();
  CHECK(graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  graft_tls_limit_key(p.client, 3);
  CHECK(graft_tls_send(p.client, data, BYTES, false) == -1 && errno == EPROTO);
  CHECK(graft_tls_send(p.client, data, 8, false) == -1 && graft_tls_send(p.client, data, 8, false) == -1);
  while ((n = graft_tls_receive(p.server, data, BYTES)) > 0) received += (size_t)n;
  CHECK(n == 0 && received == 3 * TLS_RECORD && keys_given == 2 && messages == 1);
  free(data);
  close_pair(&p);
}

/* The program gets no signal, as with plain sockets. */
static void the_other_end_may_leave(void) {
  struct pair p = open_pair(NOTHING, true);
  uint8_t *data = calloc(1, BYTES);
  char reason[200];
  if (!data) abort();
  CHECK(graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  shutdown(p.ends[1], SHUT_RDWR);
  close(p.ends[1]);
  ssize_t n = 1;
  for (int i = 0; i < 1000 && n > 0; i++) n = graft_tls_send(p.client, data, BYTES, false);
  CHECK(n == -1 && graft_tls_send(p.client, data, 8, false) == -1);
  p.ends[1] = dup(p.ends[0]);
  free(data);
  close_pair(&p);
}

static void *send_until_it_fails(void *tls) {
  uint8_t *data = calloc(1, BYTES);
  if (!data) abort();
  ssize_t n = 1;
  while (n > 0) n = graft_tls_send(tls, data, BYTES, false);
  free(data);
  return n == -1 ? tls : NULL;
}

/* A session that ends shuts its sockets down, whatever its threads wait for. */
static void a_sender_that_waits_is_woken(void) {
  struct pair p = open_pair(NOTHING, true);
  char reason[200];
  pthread_t thread;
  void *failed_at_last;
  CHECK(graft_tls_send_by_kernel(p.client, reason, sizeof reason));
  if (pthread_create(&thread, NULL, send_until_it_fails, p.client)) abort();
  struct pollfd room = {.fd = p.ends[0], .events = POLLOUT};
  while (poll(&room, 1, 0)) sched_yield();
  shutdown(p.ends[0], SHUT_RDWR);
  pthread_join(thread, &failed_at_last);
  CHECK(failed_at_last);
  close_pair(&p);
}

static void openssl_understands(void) {
  for (int serves = 0; serves < 2; serves++) {
    struct other o;
    int ends[2];
    char reason[200];
    pthread_t thread;
    void *all;
    lacks = NOTHING;
    connect_over_tcp(ends);
    struct graft_tls *tls = meet_openssl(&o, serves, ends);
    if (!tls) abort();
    CHECK(graft_tls_send_by_kernel(tls, reason, sizeof reason));
    for (int round = 0; round < 3; round++) {
      keys_given = messages = 0;
      if (round == 1) CHECK(openssl.key_update(o.ssl, 1)); /* sent with the next write; asks for a new key of this end, too */
      if (round == 2) graft_tls_limit_key(tls, 3);
      if (pthread_create(&thread, NULL, write_other, &o)) abort();
      CHECK(receive_all(tls));
      pthread_join(thread, &all);
      CHECK(all);
      if (pthread_create(&thread, NULL, read_other, &o)) abort();
      CHECK(send_all(tls));
      pthread_join(thread, &all);
      CHECK(all && messages == keys_given && (round == 0 ? !messages : round == 1 ? messages == 1 : messages > 3));
    }
    graft_tls_close(tls);
    part_openssl(&o);
    close_socket(ends[0]);
    close_socket(ends[1]);
  }
}

int main(int words, char **word) {
  char reason[400];
  bool earlier = words == 2 && !strcmp(word[1], "earlier");
  is_real = earlier || (words == 2 && !strcmp(word[1], "kernel"));
  lib = graft_tls_present(reason, sizeof reason) ? graft_tls_library(reason, sizeof reason) : NULL;
  if (words > 2 || (words == 2 && !is_real) || !lib || !find_openssl()) {
    printf("ktls: %s\n", lib ? "usage: ktls [kernel | earlier], with OpenSSL" : reason);
    return 2;
  }
  if (earlier) {
    a_process_encrypts_where_the_kernel_cannot(NOTHING, true, "cannot replace a key");
  } else {
    a_process_encrypts_where_the_kernel_cannot(MODULE, true, "module tls is not loaded");
    a_process_encrypts_where_the_kernel_cannot(REPLACING, true, "cannot replace a key");
    a_process_encrypts_where_the_kernel_cannot(TLS_AT_ALL, true, "refuses TLS on this socket");
    a_process_encrypts_where_the_kernel_cannot(NOTHING, false, "refuses TLS on this socket");
    a_process_encrypts_where_the_kernel_cannot(FIRST_KEY, true, "refuses the key");
    the_other_suite_stays_with_the_process();
    the_kernel_encrypts();
    keys_are_replaced();
    a_key_that_is_refused_ends_the_connection();
    the_other_end_may_leave();
    a_sender_that_waits_is_woken();
    openssl_understands();
  }
  printf("client-ktls: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
