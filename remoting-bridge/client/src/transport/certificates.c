#include "transport/certificates.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/tls_library.h"

#define LABEL "EXPORTER-Graft-node"
#define LONGEST_CHAIN 8 /* authorities between a certificate and one of cacert.pem */

struct graft_certificates {
  const struct graft_tls_library *lib;
  SSL_CTX *context;
  bool server;
  char host[256]; /* that the client dials */
};

/* One handshake. */
struct shake {
  const struct graft_tls_library *lib;
  int fd;
  bool server;
  unsigned verified; /* certificates that were looked at */
  int problem;       /* the first one of the other end's certificates; 0 if there is none */
};

/* ---- The files ---- */

static bool explain(const char *file, const char *what, char *reason, size_t size) {
  if (errno == ENOENT) {
    snprintf(reason, size, "%s is not there: %s belongs there, as in libvirt's layout", file, what);
  } else if (errno == EACCES) {
    snprintf(reason, size, "%s: this user may not read %s: give it to the user's group (chgrp GROUP, chmod 640)", file, what);
  } else {
    snprintf(reason, size, "%s: cannot read %s: %s", file, what, strerror(errno));
  }
  return false;
}

/* Whether a file can be read. One that is private may be readable by its owner and its group. */
static bool is_readable(const char *file, const char *what, bool private, char *reason, size_t size) {
  struct stat status;
  int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return explain(file, what, reason, size);
  bool known = !fstat(fd, &status);
  if (!known) explain(file, what, reason, size);
  close(fd);
  bool open_to_all = known && private && (status.st_mode & (S_IROTH | S_IWOTH));
  if (open_to_all) {
    snprintf(reason, size, "%s is open to all users (mode %o): chmod 640 it, or 600", file, (unsigned)status.st_mode & 07777);
  }
  return known && !open_to_all;
}

static bool use(const struct graft_tls_library *l, bool used, const char *file, const char *what, char *reason, size_t size) {
  char text[160] = "no PEM";
  unsigned long error = l->ERR_peek_last_error();
  if (used) return true;
  if (error) l->ERR_error_string_n(error, text, sizeof text);
  snprintf(reason, size, "%s does not hold %s: %s", file, what, text);
  return false;
}

/* A key that is encrypted cannot be used: nobody is there to type its password. */
static int no_password(char *to, int bytes, int writes, void *nothing) { return -1; }

/* Makes OpenSSL ask whether a certificate is revoked, if there is a list. */
static bool load_revocations(struct graft_certificates *own, const char *folder, char *reason, size_t size) {
  const struct graft_tls_library *l = own->lib;
  const char *what = "the list of revoked certificates";
  char file[512];
  snprintf(file, sizeof file, "%s/CA/cacrl.pem", folder);
  if (access(file, F_OK) && errno == ENOENT) return true;
  if (!is_readable(file, what, false, reason, size)) return false;
  X509_STORE *store = l->SSL_CTX_get_cert_store(own->context);
  X509_LOOKUP *lookup = l->X509_STORE_add_lookup(store, l->X509_LOOKUP_file());
  return use(l, lookup && l->X509_load_crl_file(lookup, file, FILE_IS_PEM) > 0, file, what, reason, size) &&
         l->X509_STORE_set_flags(store, VERIFY_REVOKED | VERIFY_REVOKED_ALL);
}

static bool load(struct graft_certificates *own, const char *folder, char *reason, size_t size) {
  const struct graft_tls_library *l = own->lib;
  const char *end = own->server ? "server" : "client";
  char authority[512], certificate[512], key[512];
  snprintf(authority, sizeof authority, "%s/CA/cacert.pem", folder);
  snprintf(certificate, sizeof certificate, "%s/libvirt/%scert.pem", folder, end);
  snprintf(key, sizeof key, "%s/libvirt/private/%skey.pem", folder, end);
  return is_readable(authority, "the authority's certificate", false, reason, size) &&
         is_readable(certificate, "this machine's certificate", false, reason, size) &&
         is_readable(key, "this machine's private key", true, reason, size) &&
         use(l, l->SSL_CTX_load_verify_locations(own->context, authority, NULL), authority, "a certificate", reason, size) &&
         use(l, l->SSL_CTX_use_certificate_chain_file(own->context, certificate) == 1, certificate, "a certificate", reason,
             size) &&
         use(l, l->SSL_CTX_use_PrivateKey_file(own->context, key, FILE_IS_PEM) == 1, key,
             "the certificate's private key, without a password", reason, size) &&
         load_revocations(own, folder, reason, size);
}

/* As in libvirt, which uses GnuTLS, every certificate of cacert.pem is trusted, also one that another authority has signed. There are neither
 * tickets nor early data: nothing follows the handshake, and each one verifies the certificates. */
static bool prepare(struct graft_certificates *own) {
  const struct graft_tls_library *l = own->lib;
  SSL_CTX *context = own->context = l->SSL_CTX_new(l->TLS_method());
  if (!context || !l->SSL_CTX_ctrl(context, CTRL_MIN_VERSION, TLS_1_3, NULL) ||
      !l->SSL_CTX_ctrl(context, CTRL_MAX_VERSION, TLS_1_3, NULL) || !l->SSL_CTX_set_num_tickets(context, 0)) {
    return false;
  }
  l->SSL_CTX_ctrl(context, CTRL_SESSION_CACHE, 0, NULL);
  l->SSL_CTX_ctrl(context, CTRL_LARGEST_CERTIFICATES, GRAFT_LARGEST_CERTIFICATE, NULL);
  l->SSL_CTX_set_options(context, OPTION_NO_TICKET);
  l->SSL_CTX_set_verify_depth(context, LONGEST_CHAIN);
  l->SSL_CTX_set_default_passwd_cb(context, no_password);
  return l->X509_STORE_set_flags(l->SSL_CTX_get_cert_store(context), VERIFY_PARTIAL_CHAIN);
}

struct graft_certificates *graft_certificates_open(const char *folder, const char *host, char *reason, size_t size) {
  /* OpenSSL takes an empty host for any host. */
  if (host && (!*host || strlen(host) >= sizeof((struct graft_certificates *)NULL)->host)) {
    snprintf(reason, size, "the server's address names no host for which its certificate could be");
    return NULL;
  }
  const struct graft_tls_library *l = graft_tls_library(reason, size);
  struct graft_certificates *own = l ? calloc(1, sizeof *own) : NULL;
  if (!own) {
    if (l) snprintf(reason, size, "no memory for certificates");
    return NULL;
  }
  own->lib = l;
  own->server = !host;
  if (host) snprintf(own->host, sizeof own->host, "%s", host);
  l->ERR_clear_error();
  bool prepared = prepare(own);
  if (!prepared) snprintf(reason, size, "OpenSSL here cannot use TLS 1.3");
  bool loaded = prepared && load(own, folder, reason, size);
  l->ERR_clear_error();
  if (loaded) return own;
  graft_certificates_close(own);
  return NULL;
}

void graft_certificates_close(struct graft_certificates *own) {
  if (!own) return;
  own->lib->SSL_CTX_free(own->context);
  free(own);
}

/* ---- What OpenSSL reads and writes: exactly what it asks for, since the proof follows on the same socket. Its own socket functions would raise
 * SIGPIPE in the program. ---- */

static struct {
  pthread_mutex_t lock;
  const struct graft_tls_library *lib;
  BIO_METHOD *method; /* constant once it is made */
} wire = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void retry(BIO *bio, ssize_t n, int flag) {
  wire.lib->BIO_clear_flags(bio, BIO_FLAG_READ | BIO_FLAG_WRITE | BIO_FLAG_RETRY);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) wire.lib->BIO_set_flags(bio, flag | BIO_FLAG_RETRY);
}

static int wire_read(BIO *bio, char *to, int bytes) {
  struct shake *shake = wire.lib->BIO_get_data(bio);
  ssize_t n = recv(shake->fd, to, (size_t)bytes, MSG_DONTWAIT);
  retry(bio, n, BIO_FLAG_READ);
  return (int)n;
}

static int wire_write(BIO *bio, const char *data, int bytes) {
  struct shake *shake = wire.lib->BIO_get_data(bio);
  ssize_t n = send(shake->fd, data, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  retry(bio, n, BIO_FLAG_WRITE);
  return (int)n;
}

static long wire_control(BIO *bio, int command, long number, void *pointer) { return command == BIO_CTRL_OF_FLUSH; }

static BIO *wire_open(struct shake *shake) {
  const struct graft_tls_library *l = shake->lib;
  pthread_mutex_lock(&wire.lock);
  if (!wire.method) {
    BIO_METHOD *method = l->BIO_meth_new(BIO_SOURCE_SINK, "graft node");
    if (method && l->BIO_meth_set_read(method, wire_read) && l->BIO_meth_set_write(method, wire_write) &&
        l->BIO_meth_set_ctrl(method, wire_control)) {
      wire.lib = l;
      wire.method = method;
    }
  }
  BIO *bio = wire.method ? l->BIO_new(wire.method) : NULL;
  pthread_mutex_unlock(&wire.lock);
  if (!bio) return NULL;
  l->BIO_set_data(bio, shake);
  l->BIO_set_init(bio, 1);
  return bio;
}

/* ---- The handshake ---- */

/* Called for each certificate of the chain, and for each problem. A list of revoked certificates has to be there of the authority that has signed
 * the other end's certificate; further authorities need not have one. */
static int verify(int is_valid, X509_STORE_CTX *context) {
  const struct graft_tls_library *l = wire.lib;
  SSL *ssl = l->X509_STORE_CTX_get_ex_data(context, l->SSL_get_ex_data_X509_STORE_CTX_idx());
  struct shake *shake = l->SSL_get_ex_data(ssl, 0);
  int error = l->X509_STORE_CTX_get_error(context);
  bool is_needless = error == PROBLEM_NO_LIST && l->X509_STORE_CTX_get_error_depth(context) > 0;
  bool is_problem = !is_valid && !is_needless;
  shake->verified++;
  if (is_problem && !shake->problem) shake->problem = error ? error : PROBLEM_UNKNOWN;
  return shake->server || !is_problem;
}

static bool expect_host(const struct graft_tls_library *l, SSL *ssl, const char *host) {
  uint8_t address[16];
  X509_VERIFY_PARAM *expected = l->SSL_get0_param(ssl);
  l->X509_VERIFY_PARAM_set_hostflags(expected, HOST_NO_PARTIAL_WILDCARDS);
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) {
    return l->X509_VERIFY_PARAM_set1_ip_asc(expected, host);
  }
  return l->X509_VERIFY_PARAM_set1_host(expected, host, 0);
}

static SSL *attach(const struct graft_certificates *own, struct shake *shake) {
  const struct graft_tls_library *l = own->lib;
  SSL *ssl = l->SSL_new(own->context);
  BIO *bio = ssl ? wire_open(shake) : NULL;
  if (!bio) {
    l->SSL_free(ssl);
    return NULL;
  }
  l->SSL_set_bio(ssl, bio, bio);
  l->SSL_set_verify(ssl, VERIFY_PEER | VERIFY_NEEDS_PEER, verify);
  if (own->server) {
    l->SSL_set_accept_state(ssl);
  } else {
    l->SSL_set_connect_state(ssl);
  }
  if (l->SSL_set_ex_data(ssl, 0, shake) && (own->server || expect_host(l, ssl, own->host))) return ssl;
  l->SSL_free(ssl);
  return NULL;
}

static void say_problem(const struct shake *shake, const char *host, char *reason, size_t size) {
  const char *end = shake->server ? "client" : "server";
  const char *problem = shake->lib->X509_verify_cert_error_string(shake->problem);
  if (shake->problem == PROBLEM_HOST || shake->problem == PROBLEM_ADDRESS) {
    snprintf(reason, size,
             "the server's certificate is not for %s: the certificate needs it among its alternative names (SAN), or the address "
             "has to have the name that the certificate is for",
             host);
  } else {
    snprintf(reason, size, "the %s's certificate is refused: %s", end, problem);
  }
}

/* True if the handshake has been completed; else with a reason. */
static bool shake_hands(struct shake *shake, SSL *ssl, const char *host, int milliseconds, char *reason, size_t size) {
  const struct graft_tls_library *l = shake->lib;
  int64_t deadline = graft_tls_milliseconds() + milliseconds;
  char text[160] = "the other end closed the connection";
  int result;
  l->ERR_clear_error();
  while ((result = l->SSL_do_handshake(ssl)) != 1) {
    int error = l->SSL_get_error(ssl, result);
    if (error != ERROR_WANT_READ && error != ERROR_WANT_WRITE) break;
    if (graft_tls_await(shake->fd, error, deadline)) continue;
    snprintf(reason, size, "the TLS handshake with certificates failed: the other end did not answer in time");
    return false;
  }
  if (result == 1) return true;
  if (shake->problem) {
    say_problem(shake, host, reason, size);
    return false;
  }
  unsigned long error = l->ERR_peek_last_error();
  if (error) l->ERR_error_string_n(error, text, sizeof text);
  snprintf(reason, size, "the TLS handshake with certificates failed: %s", text);
  return false;
}

/* Takes the certificate and the secret. */
static bool take(const struct graft_tls_library *l, SSL *ssl, struct graft_node *node) {
  X509 *certificate = l->SSL_SESSION_get0_peer(l->SSL_get_session(ssl));
  int bytes = certificate ? l->i2d_X509(certificate, NULL) : 0;
  uint8_t *to = node->certificate;
  if (bytes <= 0 || (size_t)bytes > sizeof node->certificate || l->i2d_X509(certificate, &to) != bytes) return false;
  node->bytes = (uint32_t)bytes;
  return l->SSL_version(ssl) == TLS_1_3 && !l->SSL_has_pending(ssl) &&
         l->SSL_export_keying_material(ssl, node->secret, sizeof node->secret, LABEL, strlen(LABEL), NULL, 0, 0) == 1;
}

int graft_certificates_authenticate(const struct graft_certificates *own, int fd, int milliseconds, struct graft_node *node,
                                    char *reason, size_t size) {
  const struct graft_tls_library *l = own->lib;
  struct shake shake = {.lib = l, .fd = fd, .server = own->server};
  SSL *ssl = attach(own, &shake);
  memset(node, 0, sizeof *node);
  if (!ssl) {
    snprintf(reason, size, "no memory for TLS");
    return GRAFT_NODE_BROKEN;
  }
  bool complete = shake_hands(&shake, ssl, own->host, milliseconds, reason, size);
  bool valid = complete && shake.verified && !shake.problem;
  bool known = valid && take(l, ssl, node);
  if (complete && !valid) say_problem(&shake, own->host, reason, size);
  if (valid && !known) snprintf(reason, size, "OpenSSL gave no secret after the TLS handshake");
  l->SSL_free(ssl);
  l->ERR_clear_error();
  if (!known) explicit_bzero(node, sizeof *node);
  return known ? GRAFT_NODE_KNOWN : shake.problem ? GRAFT_NODE_REFUSED : GRAFT_NODE_BROKEN;
}
