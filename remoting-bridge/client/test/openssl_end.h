/* An end of a connection that is OpenSSL's own, for tests of this implementation's. */
#ifndef GRAFT_TEST_OPENSSL_END_H
#define GRAFT_TEST_OPENSSL_END_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/tls.h"
#include "transport/tls_library.h"
#include "transport/tls_record.h"

#define BYTES 200000u

static const uint8_t key[GRAFT_TLS_KEY] = {4, 5, 6};
static const struct graft_tls_library *lib;

static struct {
  int (*set_fd)(SSL *, int);
  int (*read)(SSL *, void *, int);
  int (*write)(SSL *, const void *, int);
  int (*key_update)(SSL *, int);
  int (*shutdown)(SSL *);
} openssl;

struct other {
  int fd;
  bool server;
  SSL_CTX *context;
  SSL *ssl;
  struct graft_tls_key sends; /* as OpenSSL's, for records of the test's own */
};

static bool find_openssl(void) {
  void *handle = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!handle) handle = dlopen("libssl.so.1.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  openssl.set_fd = (int (*)(SSL *, int))dlsym(handle, "SSL_set_fd");
  openssl.read = (int (*)(SSL *, void *, int))dlsym(handle, "SSL_read");
  openssl.write = (int (*)(SSL *, const void *, int))dlsym(handle, "SSL_write");
  openssl.key_update = (int (*)(SSL *, int))dlsym(handle, "SSL_key_update");
  openssl.shutdown = (int (*)(SSL *))dlsym(handle, "SSL_shutdown");
  return openssl.set_fd && openssl.read && openssl.write && openssl.key_update && openssl.shutdown;
}

static SSL_SESSION *session_of(SSL *ssl) {
  static const unsigned char suite[] = {0x13, 0x01};
  SSL_SESSION *session = lib->SSL_SESSION_new();
  if (!lib->SSL_SESSION_set1_master_key(session, key, sizeof key) ||
      !lib->SSL_SESSION_set_cipher(session, lib->SSL_CIPHER_find(ssl, suite)) ||
      !lib->SSL_SESSION_set_protocol_version(session, TLS_1_3))
    abort();
  return session;
}

static int offer(SSL *ssl, const EVP_MD *digest, const unsigned char **identity, size_t *bytes, SSL_SESSION **session) {
  (void)digest;
  *identity = (const unsigned char *)"graft";
  *bytes = 5;
  *session = session_of(ssl);
  return 1;
}

static int find(SSL *ssl, const unsigned char *identity, size_t bytes, SSL_SESSION **session) {
  (void)identity;
  (void)bytes;
  *session = session_of(ssl);
  return 1;
}

static void keep(const SSL *ssl, const char *line) {
  struct other *o = lib->SSL_get_ex_data(ssl, 0);
  uint8_t secret[TLS_SECRET];
  const char *digits = strrchr(line, ' ');
  if (strncmp(line, o->server ? "SERVER_TRAFFIC_SECRET_0" : "CLIENT_TRAFFIC_SECRET_0", 23)) return;
  for (unsigned i = 0; i < TLS_SECRET; i++) {
    char two[] = {digits[1 + 2 * i], digits[2 + 2 * i], 0};
    secret[i] = (uint8_t)strtoul(two, NULL, 16);
  }
  if (!graft_tls_key_open(&o->sends, lib, TLS_AES_128_GCM_SHA256, secret, true)) abort();
}

static void *shake_other(void *other) {
  struct other *o = other;
  o->context = lib->SSL_CTX_new(lib->TLS_method());
  lib->SSL_CTX_ctrl(o->context, CTRL_MIN_VERSION, TLS_1_3, NULL);
  lib->SSL_CTX_set_ciphersuites(o->context, "TLS_AES_128_GCM_SHA256");
  lib->SSL_CTX_set_num_tickets(o->context, 0);
  lib->SSL_CTX_set_psk_use_session_callback(o->context, offer);
  lib->SSL_CTX_set_psk_find_session_callback(o->context, find);
  lib->SSL_CTX_set_keylog_callback(o->context, keep);
  o->ssl = lib->SSL_new(o->context);
  lib->SSL_set_ex_data(o->ssl, 0, o);
  openssl.set_fd(o->ssl, o->fd);
  if (o->server) {
    lib->SSL_set_accept_state(o->ssl);
  } else {
    lib->SSL_set_connect_state(o->ssl);
  }
  return lib->SSL_do_handshake(o->ssl) == 1 && o->sends.cipher ? other : NULL;
}

/* Connects this implementation, at the first of two ends, with OpenSSL's at the second. NULL if the handshake fails. */
static struct graft_tls *meet_openssl(struct other *o, bool other_serves, const int ends[2]) {
  char reason[400];
  pthread_t thread;
  void *shaken;
  *o = (struct other){.fd = ends[1], .server = other_serves};
  if (pthread_create(&thread, NULL, shake_other, o)) abort();
  struct graft_tls *tls = graft_tls_open(ends[0], !other_serves, key, 10000, reason, sizeof reason);
  pthread_join(thread, &shaken);
  return shaken ? tls : NULL;
}

static void part_openssl(struct other *o) {
  graft_tls_key_close(&o->sends);
  lib->SSL_free(o->ssl);
  lib->SSL_CTX_free(o->context);
}

static uint8_t pattern(size_t i) { return (uint8_t)(i * 13 + i / 251); }

/* Returns its parameter if all was sent; CHECK is for one thread alone. */
static void *write_other(void *other) {
  struct other *o = other;
  uint8_t *data = malloc(BYTES);
  if (!data) abort();
  bool sent = true;
  for (size_t i = 0; i < BYTES; i++) data[i] = pattern(i);
  for (size_t done = 0; done < BYTES && sent; done += 50000) sent = openssl.write(o->ssl, data + done, 50000) == 50000;
  free(data);
  return sent ? other : NULL;
}

static void *read_other(void *other) {
  struct other *o = other;
  uint8_t *data = calloc(1, BYTES);
  if (!data) abort();
  int n = 1;
  for (size_t done = 0; done < BYTES && n > 0; done += (size_t)n) n = openssl.read(o->ssl, data + done, (int)(BYTES - done));
  bool same = n > 0;
  for (size_t i = 0; i < BYTES; i++) same = same && data[i] == pattern(i);
  free(data);
  return same ? other : NULL;
}

#endif
