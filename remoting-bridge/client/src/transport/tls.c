#include "transport/tls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "transport/tls_library.h"

#define RECORD (16u << 10)   /* the most bytes in a record (RFC 8446, 5.1) */
#define ARRIVED (128u << 10) /* how much is received from the socket at once */
#define IDENTITY "graft"     /* the key is told apart by the session, not by its name */

/* Both suites have SHA-256, as the pre-shared key must. Without instructions for AES, ChaCha20 is several times faster. */
#define WITH_AES "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
#define WITHOUT_AES "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"
static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};

struct graft_tls {
  const struct graft_tls_library *lib;
  int fd;
  uint8_t key[GRAFT_TLS_KEY]; /* zero after the handshake */
  bool writes_more;           /* belongs to the sending thread */

  pthread_mutex_t lock;
  SSL *ssl;     /* guarded by lock */
  bool reading; /* the thread with the lock may take from "arrived"; guarded by lock */

  /* Belongs to the receiving thread. */
  bool pending; /* OpenSSL has decrypted more than it was asked for */
  bool broken;  /* a record was not the other end's: nothing more is received */
  size_t start, end;
  uint8_t arrived[ARRIVED]; /* encrypted */
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
  size_t have = tls->reading ? tls->end - tls->start : 0;
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
  ssize_t n = send(tls->fd, data, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT | (tls->writes_more ? MSG_MORE : 0));
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
  l->SSL_CTX_ctrl(context, CTRL_MODE, MODE_PARTIAL_WRITE | MODE_MOVING_BUFFER, NULL);
  l->SSL_CTX_ctrl(context, CTRL_SESSION_CACHE, 0, NULL);
  l->SSL_CTX_set_options(context, OPTION_SERVER_PREFERENCE | OPTION_PRIORITIZE_CHACHA);
  l->SSL_CTX_set_psk_use_session_callback(context, offer_key);
  l->SSL_CTX_set_psk_find_session_callback(context, find_key);
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

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Receives into "arrived", which must be empty. As recv(2). */
static ssize_t fill(struct graft_tls *tls, int flags) {
  ssize_t n;
  do {
    n = recv(tls->fd, tls->arrived, sizeof tls->arrived, flags);
  } while (n < 0 && errno == EINTR);
  tls->start = 0;
  tls->end = n > 0 ? (size_t)n : 0;
  return n;
}

/* Waits for what OpenSSL wants. False if it does not come in time. */
static bool await(struct graft_tls *tls, int error, int64_t deadline) {
  int64_t left = deadline - milliseconds_now();
  struct pollfd p = {.fd = tls->fd, .events = error == ERROR_WANT_WRITE ? POLLOUT : POLLIN};
  if (left <= 0) return false;
  int r = poll(&p, 1, (int)left);
  if (r < 0 && errno == EINTR) return true;
  if (r <= 0) return false;
  return error == ERROR_WANT_WRITE || fill(tls, MSG_DONTWAIT) > 0 || errno == EAGAIN;
}

static bool shake_hands(struct graft_tls *tls, int milliseconds, char *reason, size_t size) {
  const struct graft_tls_library *l = tls->lib;
  int64_t deadline = milliseconds_now() + milliseconds;
  int result;
  tls->reading = true;
  l->ERR_clear_error();
  while ((result = l->SSL_do_handshake(tls->ssl)) != 1) {
    int error = l->SSL_get_error(tls->ssl, result);
    errno = 0;
    if (error != ERROR_WANT_READ && error != ERROR_WANT_WRITE) break;
    if (await(tls, error, deadline)) continue;
    snprintf(reason, size, "the TLS handshake failed: the other end %s",
             milliseconds_now() >= deadline ? "did not answer in time" : "closed the connection");
    return false;
  }
  tls->reading = false;
  if (result != 1) {
    say_why(l, "the TLS handshake failed", reason, size);
    return false;
  }
  /* A session that is "reused" is one whose key both ends had before. */
  if (l->SSL_session_reused(tls->ssl) && l->SSL_version(tls->ssl) == TLS_1_3) return true;
  snprintf(reason, size, "the TLS handshake did not use the session's key");
  return false;
}

struct graft_tls *graft_tls_open(int fd, bool server, const uint8_t *key, int milliseconds, char *reason, size_t size) {
  const struct graft_tls_library *l = ready(reason, size);
  struct graft_tls *tls = l ? calloc(1, sizeof *tls) : NULL;
  if (!tls) {
    if (l) snprintf(reason, size, "no memory for TLS");
    return NULL;
  }
  tls->lib = l;
  tls->fd = fd;
  memcpy(tls->key, key, sizeof tls->key);
  pthread_mutex_init(&tls->lock, NULL);
  bool attached = attach(tls, server);
  if (!attached) snprintf(reason, size, "no memory for TLS");
  bool open = attached && shake_hands(tls, milliseconds, reason, size);
  explicit_bzero(tls->key, sizeof tls->key);
  if (open) return tls;
  graft_tls_close(tls);
  return NULL;
}

/* ---- Receiving and sending ---- */

/* Decrypts what has arrived. -1 with EAGAIN if that is no whole record. */
static ssize_t decrypt(struct graft_tls *tls, void *to, size_t bytes) {
  const struct graft_tls_library *l = tls->lib;
  pthread_mutex_lock(&tls->lock);
  tls->reading = true;
  l->ERR_clear_error();
  int n = l->SSL_read(tls->ssl, to, bytes < RECORD ? (int)bytes : (int)RECORD);
  int error = n > 0 ? 0 : l->SSL_get_error(tls->ssl, n);
  tls->pending = n > 0 && l->SSL_pending(tls->ssl) > 0;
  tls->reading = false;
  if (error) l->ERR_clear_error();
  pthread_mutex_unlock(&tls->lock);
  if (n > 0) return n;
  if (error == ERROR_ZERO_RETURN) return 0;
  tls->broken = error != ERROR_WANT_READ;
  errno = tls->broken ? EPROTO : EAGAIN;
  return -1;
}

/* The parameter holds flags of recv(2) for waiting. */
static ssize_t take(struct graft_tls *tls, void *to, size_t bytes, int flags) {
  size_t done = 0;
  if (tls->broken) {
    errno = EPROTO;
    return -1;
  }
  while (done < bytes) {
    if (!tls->pending && tls->start == tls->end) {
      if (done) break;
      ssize_t n = fill(tls, flags);
      if (n <= 0) return n;
    }
    ssize_t n = decrypt(tls, (uint8_t *)to + done, bytes - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (done) {
      break; /* an error comes again at the next call */
    } else if (!n || errno != EAGAIN) {
      return n;
    }
  }
  return (ssize_t)done;
}

ssize_t graft_tls_try(struct graft_tls *tls, void *to, size_t bytes) { return take(tls, to, bytes, MSG_DONTWAIT); }

ssize_t graft_tls_receive(struct graft_tls *tls, void *to, size_t bytes) { return take(tls, to, bytes, 0); }

/* Encrypts and sends one record. 0 if the socket takes no more now. */
static ssize_t encrypt(struct graft_tls *tls, const void *data, size_t bytes) {
  const struct graft_tls_library *l = tls->lib;
  pthread_mutex_lock(&tls->lock);
  l->ERR_clear_error();
  int n = l->SSL_write(tls->ssl, data, (int)bytes);
  int failed = errno, error = n > 0 ? 0 : l->SSL_get_error(tls->ssl, n);
  if (error) l->ERR_clear_error();
  pthread_mutex_unlock(&tls->lock);
  if (n > 0) return n;
  if (error == ERROR_WANT_WRITE) return 0;
  errno = failed ? failed : EPROTO;
  return -1;
}

ssize_t graft_tls_send(struct graft_tls *tls, const void *data, size_t bytes, bool more) {
  for (size_t done = 0; done < bytes;) {
    size_t left = bytes - done, take_now = left < RECORD ? left : RECORD;
    tls->writes_more = more || left > take_now;
    errno = 0;
    ssize_t n = encrypt(tls, (const uint8_t *)data + done, take_now);
    if (n < 0) return -1;
    struct pollfd p = {.fd = tls->fd, .events = POLLOUT};
    if (!n && poll(&p, 1, -1) < 0 && errno != EINTR) return -1;
    done += (size_t)n;
  }
  return (ssize_t)bytes;
}

void graft_tls_close(struct graft_tls *tls) {
  if (!tls) return;
  tls->lib->SSL_free(tls->ssl);
  pthread_mutex_destroy(&tls->lock);
  free(tls);
}
