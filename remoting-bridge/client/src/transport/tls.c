#include "transport/tls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/ktls.h"
#include "transport/tls_library.h"
#include "transport/tls_record.h"

#define ARRIVED (128u << 10)                           /* how much is received from the socket at once */
#define LEAVING (8u * (TLS_RECORD + TLS_ADDED) + 256u) /* how much is sent at once: full records, and a few short ones */
#define IDENTITY "graft"                               /* the key is told apart by the session, not by its name */
/* With AES-GCM, 2^24.5 full records may be encrypted with one key (RFC 8446, 5.5). */
#define RECORDS_PER_KEY (UINT64_C(1) << 24)
#define MOST_EMPTY 32 /* records without data between records with data */

/* Both suites have SHA-256, as the pre-shared key must. Without instructions for AES, ChaCha20 is several times faster. */
#define WITH_AES "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
#define WITHOUT_AES "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"
static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};

struct graft_tls {
  const struct graft_tls_library *lib;
  int fd;
  bool server;

  /* Of the handshake; zero after it. */
  SSL *ssl;
  uint8_t key[GRAFT_TLS_KEY];
  uint8_t secrets[2][TLS_SECRET]; /* of what the client sends, and of what the server sends */
  bool are_known[2];

  /* Belongs to the sending thread. */
  struct graft_tls_key sends;
  bool by_kernel; /* the kernel encrypts */
  bool is_broken; /* a call of the kernel's TLS has failed: it would report success for some later ones, and drop the bytes */
  uint64_t records_per_key;
  size_t leaving_bytes;
  uint8_t leaving[LEAVING];

  bool owes_update; /* the other end has asked for a new key; atomic */

  /* Belongs to the receiving thread. */
  struct graft_tls_key receives;
  int end_errno; /* nothing more is received: 0 if the other end has said so, else EPROTO */
  bool has_ended;
  unsigned empty;    /* the number of records without data behind the last one with data */
  size_t start, end; /* of "arrived" */
  size_t taken, plain_bytes;
  uint8_t arrived[ARRIVED];   /* encrypted */
  uint8_t plain[TLS_LARGEST]; /* a record that was decrypted for a caller who wants less of it */
};

/* ---- What OpenSSL reads and writes. Its own socket functions would raise SIGPIPE in the program. ---- */

static struct {
  pthread_mutex_t lock;
  const struct graft_tls_library *lib; /* constant before the first connection is made, as the others */
  SSL_CTX *context;
  BIO_METHOD *method;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int wire_read(BIO *bio, char *to, int bytes) {
  struct graft_tls *tls = shared.lib->BIO_get_data(bio);
  size_t have = tls->end - tls->start;
  size_t take = have < (size_t)bytes ? have : (size_t)bytes;
  tls->lib->BIO_clear_flags(bio, BIO_FLAG_READ | BIO_FLAG_WRITE | BIO_FLAG_RETRY);
  if (!take) {
    tls->lib->BIO_set_flags(bio, BIO_FLAG_READ | BIO_FLAG_RETRY);
    return -1;
  }
  memcpy(to, tls->arrived + tls->start, take);
  tls->start += take;
  return (int)take;
}

static int wire_write(BIO *bio, const char *data, int bytes) {
  struct graft_tls *tls = shared.lib->BIO_get_data(bio);
  ssize_t n = send(tls->fd, data, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  tls->lib->BIO_clear_flags(bio, BIO_FLAG_READ | BIO_FLAG_WRITE | BIO_FLAG_RETRY);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) tls->lib->BIO_set_flags(bio, BIO_FLAG_WRITE | BIO_FLAG_RETRY);
  return (int)n;
}

static long wire_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_OF_FLUSH;
}

/* OpenSSL gives out the traffic secrets as lines "CLIENT_TRAFFIC_SECRET_0 RANDOM SECRET" in hexadecimal digits, by the only function that all
 * its versions have for this. */
static void keep_secret_of(const SSL *ssl, const char *line) {
  struct graft_tls *tls = shared.lib->SSL_get_ex_data(ssl, 0);
  const char *digits = strrchr(line, ' ');
  bool of_client = !strncmp(line, "CLIENT_TRAFFIC_SECRET_0 ", 24), of_server = !strncmp(line, "SERVER_TRAFFIC_SECRET_0 ", 24);
  if (!tls || (!of_client && !of_server) || !digits || strlen(digits) != 1 + 2 * TLS_SECRET) return;
  for (unsigned i = 0; i < TLS_SECRET; i++) {
    if (sscanf(digits + 1 + 2 * i, "%2hhx", &tls->secrets[of_server][i]) != 1) return;
  }
  tls->are_known[of_server] = true;
}

/* ---- The pre-shared key ---- */

static SSL_SESSION *session_of(const struct graft_tls *tls) {
  SSL_SESSION *session = tls->lib->SSL_SESSION_new();
  if (session && tls->lib->SSL_SESSION_set1_master_key(session, tls->key, sizeof tls->key) &&
      tls->lib->SSL_SESSION_set_cipher(session, tls->lib->SSL_CIPHER_find(tls->ssl, aes_128_gcm_sha256)) &&
      tls->lib->SSL_SESSION_set_protocol_version(session, TLS_1_3)) {
    return session;
  }
  tls->lib->SSL_SESSION_free(session);
  return NULL;
}

static int offer_key(SSL *ssl, const EVP_MD *digest, const unsigned char **identity, size_t *bytes, SSL_SESSION **session) {
  (void)digest;
  *identity = (const unsigned char *)IDENTITY;
  *bytes = strlen(IDENTITY);
  *session = session_of(shared.lib->SSL_get_ex_data(ssl, 0));
  return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *identity, size_t bytes, SSL_SESSION **session) {
  bool ours = bytes == strlen(IDENTITY) && !memcmp(identity, IDENTITY, bytes);
  *session = ours ? session_of(shared.lib->SSL_get_ex_data(ssl, 0)) : NULL;
  return !ours || *session;
}

/* ---- Opening ---- */

static bool has_aes(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("aes");
#else
  return true;
#endif
}

/* No end sends early data, so that no record that cannot be decrypted is skipped as such. Without tickets nothing but data follows the handshake. */
static bool prepare(const struct graft_tls_library *l) {
  SSL_CTX *context = l->SSL_CTX_new(l->TLS_method());
  BIO_METHOD *method = l->BIO_meth_new(BIO_SOURCE_SINK, "graft");
  bool ready = context && method && l->SSL_CTX_ctrl(context, CTRL_MIN_VERSION, TLS_1_3, NULL) &&
               l->SSL_CTX_ctrl(context, CTRL_MAX_VERSION, TLS_1_3, NULL) &&
               l->SSL_CTX_set_ciphersuites(context, has_aes() ? WITH_AES : WITHOUT_AES) && l->SSL_CTX_set_num_tickets(context, 0) &&
               l->SSL_CTX_set_recv_max_early_data(context, 0) && l->BIO_meth_set_read(method, wire_read) &&
               l->BIO_meth_set_write(method, wire_write) && l->BIO_meth_set_ctrl(method, wire_control);
  if (!ready) {
    l->SSL_CTX_free(context);
    return false;
  }
  l->SSL_CTX_ctrl(context, CTRL_SESSION_CACHE, 0, NULL);
  l->SSL_CTX_set_options(context, OPTION_SERVER_PREFERENCE | OPTION_PRIORITIZE_CHACHA);
  l->SSL_CTX_set_psk_use_session_callback(context, offer_key);
  l->SSL_CTX_set_psk_find_session_callback(context, find_key);
  l->SSL_CTX_set_keylog_callback(context, keep_secret_of);
  shared.lib = l;
  shared.method = method;
  shared.context = context;
  return true;
}

static void say_why(const struct graft_tls_library *l, const char *what, char *reason, size_t size) {
  unsigned long error = l->ERR_peek_last_error();
  char text[160] = "the other end closed the connection";
  if (error) l->ERR_error_string_n(error, text, sizeof text);
  l->ERR_clear_error();
  snprintf(reason, size, "%s: %s", what, text);
}

/* The library with its context. */
static const struct graft_tls_library *ready(char *reason, size_t size) {
  const struct graft_tls_library *l = graft_tls_library(reason, size);
  if (!l) return NULL;
  pthread_mutex_lock(&shared.lock);
  bool prepared = shared.context || prepare(l);
  pthread_mutex_unlock(&shared.lock);
  if (!prepared) say_why(l, "OpenSSL here cannot use TLS 1.3", reason, size);
  return prepared ? l : NULL;
}

bool graft_tls_present(char *reason, size_t size) { return ready(reason, size) != NULL; }

static bool attach(struct graft_tls *tls, bool server) {
  const struct graft_tls_library *l = tls->lib;
  BIO *bio = l->BIO_new(shared.method);
  tls->ssl = l->SSL_new(shared.context);
  if (!bio || !tls->ssl) return false;
  l->BIO_set_data(bio, tls);
  l->BIO_set_init(bio, 1);
  l->SSL_set_bio(tls->ssl, bio, bio);
  if (server) {
    l->SSL_set_accept_state(tls->ssl);
  } else {
    /* No authority is trusted, so that a server with a certificate in place of the key is refused. */
    l->SSL_set_verify(tls->ssl, VERIFY_PEER, NULL);
    l->SSL_set_connect_state(tls->ssl);
  }
  return l->SSL_set_ex_data(tls->ssl, 0, tls);
}

/* Receives what follows in "arrived". As recv(2). */
static ssize_t fill(struct graft_tls *tls, int flags) {
  if (sizeof tls->arrived - tls->start < TLS_LARGEST || tls->start == tls->end) {
    memmove(tls->arrived, tls->arrived + tls->start, tls->end - tls->start);
    tls->end -= tls->start;
    tls->start = 0;
  }
  ssize_t n;
  do {
    n = recv(tls->fd, tls->arrived + tls->end, sizeof tls->arrived - tls->end, flags);
  } while (n < 0 && errno == EINTR);
  if (n > 0) tls->end += (size_t)n;
  return n;
}

/* Waits for what OpenSSL wants. False if it does not come in time. */
static bool await(struct graft_tls *tls, int error, int64_t deadline) {
  if (!graft_tls_await(tls->fd, error, deadline)) return false;
  return error == ERROR_WANT_WRITE || fill(tls, MSG_DONTWAIT) > 0 || errno == EAGAIN;
}

static bool shake_hands(struct graft_tls *tls, int milliseconds, char *reason, size_t size) {
  const struct graft_tls_library *l = tls->lib;
  int64_t deadline = graft_tls_milliseconds() + milliseconds;
  int result;
  l->ERR_clear_error();
  while ((result = l->SSL_do_handshake(tls->ssl)) != 1) {
    int error = l->SSL_get_error(tls->ssl, result);
    errno = 0;
    if (error != ERROR_WANT_READ && error != ERROR_WANT_WRITE) break;
    if (await(tls, error, deadline)) continue;
    snprintf(reason, size, "the TLS handshake failed: the other end %s",
             graft_tls_milliseconds() >= deadline ? "did not answer in time" : "closed the connection");
    return false;
  }
  if (result != 1) {
    say_why(l, "the TLS handshake failed", reason, size);
    return false;
  }
  /* A session that is "reused" is one whose key both ends had before. */
  if (l->SSL_session_reused(tls->ssl) && l->SSL_version(tls->ssl) == TLS_1_3) return true;
  snprintf(reason, size, "the TLS handshake did not use the session's key");
  return false;
}

/* Replaces OpenSSL's connection by the keys on which the two ends have agreed. */
static bool take_keys(struct graft_tls *tls, char *reason, size_t size) {
  const struct graft_tls_library *l = tls->lib;
  unsigned suite = l->SSL_CIPHER_get_protocol_id(l->SSL_get_current_cipher(tls->ssl));
  bool known = suite == TLS_AES_128_GCM_SHA256 || suite == TLS_CHACHA20_POLY1305_SHA256;
  bool are_set = known && tls->are_known[0] && tls->are_known[1] &&
                 graft_tls_key_open(&tls->sends, l, suite, tls->secrets[tls->server], true) &&
                 graft_tls_key_open(&tls->receives, l, suite, tls->secrets[!tls->server], false);
  if (!are_set) say_why(l, "OpenSSL gave no keys after the TLS handshake", reason, size);
  return are_set;
}

static void forget_handshake(struct graft_tls *tls) {
  tls->lib->SSL_free(tls->ssl);
  tls->ssl = NULL;
  explicit_bzero(tls->key, sizeof tls->key);
  explicit_bzero(tls->secrets, sizeof tls->secrets);
}

/* Lets OpenSSL send its first message, if this end begins. */
static bool greet(struct graft_tls *tls, char *reason, size_t size) {
  tls->lib->ERR_clear_error();
  int error = tls->lib->SSL_get_error(tls->ssl, tls->lib->SSL_do_handshake(tls->ssl));
  if (error == ERROR_WANT_READ || error == ERROR_WANT_WRITE) return true;
  say_why(tls->lib, "the TLS handshake failed", reason, size);
  return false;
}

struct graft_tls *graft_tls_begin(int fd, bool server, const uint8_t *key, char *reason, size_t size) {
  const struct graft_tls_library *l = ready(reason, size);
  struct graft_tls *tls = l ? calloc(1, sizeof *tls) : NULL;
  if (!tls) {
    if (l) snprintf(reason, size, "no memory for TLS");
    return NULL;
  }
  tls->lib = l;
  tls->fd = fd;
  tls->server = server;
  tls->records_per_key = RECORDS_PER_KEY;
  memcpy(tls->key, key, sizeof tls->key);
  bool attached = attach(tls, server);
  if (!attached) snprintf(reason, size, "no memory for TLS");
  if (attached && greet(tls, reason, size)) return tls;
  graft_tls_close(tls);
  return NULL;
}

bool graft_tls_finish(struct graft_tls *tls, int milliseconds, char *reason, size_t size) {
  bool open = shake_hands(tls, milliseconds, reason, size) && take_keys(tls, reason, size);
  forget_handshake(tls);
  return open;
}

struct graft_tls *graft_tls_open(int fd, bool server, const uint8_t *key, int milliseconds, char *reason, size_t size) {
  struct graft_tls *tls = graft_tls_begin(fd, server, key, reason, size);
  if (!tls || graft_tls_finish(tls, milliseconds, reason, size)) return tls;
  graft_tls_close(tls);
  return NULL;
}

/* ---- Receiving ---- */

static ssize_t end(struct graft_tls *tls, int why) {
  tls->has_ended = true;
  tls->end_errno = why;
  errno = why;
  return why ? -1 : 0;
}

/* Takes a record without data: a new key of the other end's (RFC 8446, 4.6.3), its farewell (6.1), or nothing. Returns 1 if more may follow. */
static ssize_t take_message(struct graft_tls *tls, uint8_t type, const uint8_t *message, size_t bytes) {
  static const uint8_t update[] = {24, 0, 0, 1}, farewell = 0;
  if (++tls->empty > MOST_EMPTY) return end(tls, EPROTO);
  if (type == TLS_DATA && !bytes) return 1;
  if (type == TLS_ALERT && bytes == 2 && message[1] == farewell) return end(tls, 0);
  bool is_update = type == TLS_HANDSHAKE && bytes == sizeof update + 1 && !memcmp(message, update, sizeof update) && message[4] < 2;
  if (!is_update || !graft_tls_key_update(&tls->receives)) return end(tls, EPROTO);
  if (message[4]) __atomic_store_n(&tls->owes_update, true, __ATOMIC_RELEASE);
  return 1;
}

/* Decrypts the first record that has arrived, to "to" if that has room for it. As recv(2), with EAGAIN if there is no whole record or it
 * had no data for "to". */
static ssize_t next(struct graft_tls *tls, uint8_t *to, size_t bytes) {
  uint8_t *record = tls->arrived + tls->start, type;
  ssize_t all = graft_tls_measure(record, tls->end - tls->start);
  if (all < 0) return end(tls, EPROTO);
  errno = EAGAIN;
  if (!all) return -1;
  bool fits = (size_t)all - TLS_ADDED <= bytes;
  uint8_t *place = fits ? to : tls->plain;
  ssize_t n = graft_tls_decrypt(&tls->receives, record, (size_t)all, place, &type);
  tls->start += (size_t)all;
  if (n < 0) return end(tls, EPROTO);
  if (type != TLS_DATA || !n) {
    ssize_t more = take_message(tls, type, place, (size_t)n);
    if (more <= 0) return more;
    errno = EAGAIN;
    return -1;
  }
  tls->empty = 0;
  if (fits) return n;
  tls->taken = 0;
  tls->plain_bytes = (size_t)n;
  errno = EAGAIN;
  return -1;
}

static size_t take_plain(struct graft_tls *tls, uint8_t *to, size_t bytes) {
  size_t have = tls->plain_bytes - tls->taken, n = have < bytes ? have : bytes;
  memcpy(to, tls->plain + tls->taken, n);
  tls->taken += n;
  return n;
}

/* The parameter holds flags of recv(2) for waiting. */
static ssize_t take(struct graft_tls *tls, void *to, size_t bytes, int flags) {
  size_t done = 0;
  while (done < bytes) {
    uint8_t *at = (uint8_t *)to + done;
    if (tls->taken < tls->plain_bytes) {
      done += take_plain(tls, at, bytes - done);
      continue;
    }
    size_t before = tls->start;
    ssize_t n = tls->has_ended ? end(tls, tls->end_errno) : next(tls, at, bytes - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (tls->has_ended) {
      return done ? (ssize_t)done : n; /* the end comes again at the next call */
    } else if (tls->start == before) {
      n = fill(tls, done ? MSG_DONTWAIT : flags);
      if (n <= 0) return done ? (ssize_t)done : n;
    }
  }
  return (ssize_t)done;
}

ssize_t graft_tls_try(struct graft_tls *tls, void *to, size_t bytes) { return take(tls, to, bytes, MSG_DONTWAIT); }

ssize_t graft_tls_receive(struct graft_tls *tls, void *to, size_t bytes) { return take(tls, to, bytes, 0); }

/* ---- Sending ---- */

static const uint8_t key_update[] = {24, 0, 0, 1, 0}; /* KeyUpdate, which asks for none in return */

static bool send_all(struct graft_tls *tls, const uint8_t *data, size_t bytes, bool more) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = send(tls->fd, data + done, bytes - done, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    struct pollfd p = {.fd = tls->fd, .events = POLLOUT};
    if (n < 0 && errno == EAGAIN) poll(&p, 1, -1);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n > 0) done += (size_t)n;
  }
  return true;
}

/* Sends all that is encrypted. */
static bool flush(struct graft_tls *tls, bool more) {
  if (!send_all(tls, tls->leaving, tls->leaving_bytes, more)) return false;
  tls->leaving_bytes = 0;
  return true;
}

static bool put(struct graft_tls *tls, uint8_t type, const void *data, size_t bytes) {
  bool encrypted = graft_tls_encrypt(&tls->sends, type, data, bytes, tls->leaving + tls->leaving_bytes);
  if (encrypted) tls->leaving_bytes += bytes + TLS_ADDED;
  if (!encrypted) errno = EPROTO;
  return encrypted;
}

/* Gives the kernel the next key, behind the message that says so. If this fails in between, nothing more may be sent. */
static bool renew_in_kernel(struct graft_tls *tls) {
  if (graft_ktls_message(tls->fd, TLS_HANDSHAKE, key_update, sizeof key_update) && graft_tls_key_update(&tls->sends) &&
      graft_ktls_set_key(tls->fd, &tls->sends)) {
    return true;
  }
  shutdown(tls->fd, SHUT_RDWR);
  errno = EPROTO;
  return false;
}

/* Sends a new key ahead if the present one has served its time, or the other end asks for one. */
static bool renew(struct graft_tls *tls) {
  bool owes = __atomic_exchange_n(&tls->owes_update, false, __ATOMIC_ACQUIRE);
  if (!owes && tls->sends.records < tls->records_per_key) return true;
  if (tls->by_kernel) return renew_in_kernel(tls);
  return put(tls, TLS_HANDSHAKE, key_update, sizeof key_update) && graft_tls_key_update(&tls->sends);
}

/* The kernel does not say how many records it makes of these bytes: it fills one before it begins another, except when it is short of memory.
 * The limit of a key is one of encrypted blocks in the end, so that short records do no harm. */
static bool send_by_kernel(struct graft_tls *tls, const uint8_t *data, size_t bytes, bool more) {
  while (bytes) {
    if (!renew(tls)) return false;
    uint64_t records = tls->records_per_key - tls->sends.records, most = records * TLS_RECORD;
    size_t n = bytes < most ? bytes : (size_t)most;
    if (!send_all(tls, data, n, more || n < bytes)) return false;
    tls->sends.records += n / TLS_RECORD + 1;
    data += n;
    bytes -= n;
  }
  return true;
}

ssize_t graft_tls_send(struct graft_tls *tls, const void *data, size_t bytes, bool more) {
  const size_t most = TLS_RECORD + 3 * TLS_ADDED; /* a record, and a KeyUpdate before it */
  if (tls->by_kernel) {
    errno = EPIPE;
    tls->is_broken = tls->is_broken || !send_by_kernel(tls, data, bytes, more);
    return tls->is_broken ? -1 : (ssize_t)bytes;
  }
  for (size_t done = 0; done < bytes;) {
    size_t left = bytes - done, n = left < TLS_RECORD ? left : TLS_RECORD;
    if (sizeof tls->leaving - tls->leaving_bytes < most && !flush(tls, true)) return -1;
    if (!renew(tls) || !put(tls, TLS_DATA, (const uint8_t *)data + done, n)) return -1;
    done += n;
  }
  return more || flush(tls, false) ? (ssize_t)bytes : -1;
}

bool graft_tls_send_by_kernel(struct graft_tls *tls, char *reason, size_t size) {
  if (!flush(tls, false)) {
    snprintf(reason, size, "the connection is broken");
    return false;
  }
  if (!graft_ktls_begin(tls->fd, &tls->sends, reason, size)) return false;
  graft_tls_key_hand_over(&tls->sends);
  tls->by_kernel = true;
  return true;
}

void graft_tls_limit_key(struct graft_tls *tls, uint64_t records) { tls->records_per_key = records; }

void graft_tls_close(struct graft_tls *tls) {
  if (!tls) return;
  if (tls->ssl) forget_handshake(tls);
  graft_tls_key_close(&tls->sends);
  graft_tls_key_close(&tls->receives);
  explicit_bzero(tls->plain, tls->plain_bytes);
  free(tls);
}
