/* The functions of OpenSSL that tls.c and certificates.c call, in OpenSSL 1.1.1 and 3, whose binary interfaces agree on them. They are declared here so that
 * building the client needs no headers of OpenSSL. The numbers are those of openssl/ssl.h, openssl/bio.h, openssl/evp.h and openssl/x509_vfy.h. */
#ifndef GRAFT_TLS_LIBRARY_H
#define GRAFT_TLS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_method_st SSL_METHOD;
typedef struct ssl_session_st SSL_SESSION;
typedef struct ssl_cipher_st SSL_CIPHER;
typedef struct evp_md_st EVP_MD;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct engine_st ENGINE;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;
typedef struct x509_store_ctx_st X509_STORE_CTX;
typedef struct x509_lookup_st X509_LOOKUP;
typedef struct x509_lookup_method_st X509_LOOKUP_METHOD;
typedef struct X509_VERIFY_PARAM_st X509_VERIFY_PARAM;

typedef int use_session(SSL *, const EVP_MD *, const unsigned char **, size_t *, SSL_SESSION **);
typedef int find_session(SSL *, const unsigned char *, size_t, SSL_SESSION **);
typedef void keep_secret(const SSL *, const char *);
typedef int verify_certificate(int, X509_STORE_CTX *);
typedef int give_password(char *, int, int, void *);

enum {
  TLS_1_3 = 0x0304,
  CTRL_SESSION_CACHE = 44,
  CTRL_LARGEST_CERTIFICATES = 51,
  CTRL_MIN_VERSION = 123,
  CTRL_MAX_VERSION = 124,
  OPTION_SERVER_PREFERENCE = 1 << 22,
  OPTION_PRIORITIZE_CHACHA = 1 << 21,
  OPTION_NO_TICKET = 1 << 14,
  VERIFY_PEER = 1,
  VERIFY_NEEDS_PEER = 2,
  VERIFY_REVOKED = 0x4,
  VERIFY_REVOKED_ALL = 0x8,
  VERIFY_PARTIAL_CHAIN = 0x80000,
  HOST_NO_PARTIAL_WILDCARDS = 0x4,
  PROBLEM_UNKNOWN = 1,
  PROBLEM_NO_LIST = 3,
  PROBLEM_HOST = 62,
  PROBLEM_ADDRESS = 64,
  FILE_IS_PEM = 1,
  ERROR_WANT_READ = 2,
  ERROR_WANT_WRITE = 3,
  BIO_SOURCE_SINK = 0x0400,
  BIO_FLAG_READ = 1,
  BIO_FLAG_WRITE = 2,
  BIO_FLAG_RETRY = 8,
  BIO_CTRL_OF_FLUSH = 11,
  AEAD_GET_TAG = 0x10,
  AEAD_SET_TAG = 0x11,
};

/* Result, name, parameters. */
#define GRAFT_TLS_FUNCTIONS(F)                                                                                                   \
  F(const SSL_METHOD *, TLS_method, (void))                                                                                      \
  F(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *))                                                                                \
  F(void, SSL_CTX_free, (SSL_CTX *))                                                                                             \
  F(long, SSL_CTX_ctrl, (SSL_CTX *, int, long, void *))                                                                          \
  F(int, SSL_CTX_set_ciphersuites, (SSL_CTX *, const char *))                                                                    \
  F(uint64_t, SSL_CTX_set_options, (SSL_CTX *, uint64_t))                                                                        \
  F(int, SSL_CTX_set_recv_max_early_data, (SSL_CTX *, uint32_t))                                                                 \
  F(int, SSL_CTX_set_num_tickets, (SSL_CTX *, size_t))                                                                           \
  F(void, SSL_CTX_set_psk_use_session_callback, (SSL_CTX *, use_session *))                                                      \
  F(void, SSL_CTX_set_psk_find_session_callback, (SSL_CTX *, find_session *))                                                    \
  F(SSL *, SSL_new, (SSL_CTX *))                                                                                                 \
  F(void, SSL_free, (SSL *))                                                                                                     \
  F(void, SSL_set_bio, (SSL *, BIO *, BIO *))                                                                                    \
  F(int, SSL_set_ex_data, (SSL *, int, void *))                                                                                  \
  F(void *, SSL_get_ex_data, (const SSL *, int))                                                                                 \
  F(void, SSL_set_verify, (SSL *, int, verify_certificate *))                                                                    \
  F(void, SSL_set_connect_state, (SSL *))                                                                                        \
  F(void, SSL_set_accept_state, (SSL *))                                                                                         \
  F(int, SSL_do_handshake, (SSL *))                                                                                              \
  F(int, SSL_session_reused, (const SSL *))                                                                                      \
  F(int, SSL_version, (const SSL *))                                                                                             \
  F(void, SSL_CTX_set_keylog_callback, (SSL_CTX *, keep_secret *))                                                               \
  F(const SSL_CIPHER *, SSL_get_current_cipher, (const SSL *))                                                                   \
  F(uint16_t, SSL_CIPHER_get_protocol_id, (const SSL_CIPHER *))                                                                  \
  F(int, SSL_get_error, (const SSL *, int))                                                                                      \
  F(const SSL_CIPHER *, SSL_CIPHER_find, (SSL *, const unsigned char *))                                                         \
  F(SSL_SESSION *, SSL_SESSION_new, (void))                                                                                      \
  F(void, SSL_SESSION_free, (SSL_SESSION *))                                                                                     \
  F(int, SSL_SESSION_set1_master_key, (SSL_SESSION *, const unsigned char *, size_t))                                            \
  F(int, SSL_SESSION_set_cipher, (SSL_SESSION *, const SSL_CIPHER *))                                                            \
  F(int, SSL_SESSION_set_protocol_version, (SSL_SESSION *, int))                                                                 \
  F(BIO_METHOD *, BIO_meth_new, (int, const char *))                                                                             \
  F(int, BIO_meth_set_write, (BIO_METHOD *, int (*)(BIO *, const char *, int)))                                                  \
  F(int, BIO_meth_set_read, (BIO_METHOD *, int (*)(BIO *, char *, int)))                                                         \
  F(int, BIO_meth_set_ctrl, (BIO_METHOD *, long (*)(BIO *, int, long, void *)))                                                  \
  F(BIO *, BIO_new, (const BIO_METHOD *))                                                                                        \
  F(void, BIO_set_data, (BIO *, void *))                                                                                         \
  F(void *, BIO_get_data, (BIO *))                                                                                               \
  F(void, BIO_set_init, (BIO *, int))                                                                                            \
  F(void, BIO_set_flags, (BIO *, int))                                                                                           \
  F(void, BIO_clear_flags, (BIO *, int))                                                                                         \
  F(const EVP_CIPHER *, EVP_aes_128_gcm, (void))                                                                                 \
  F(const EVP_CIPHER *, EVP_chacha20_poly1305, (void))                                                                           \
  F(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void))                                                                                \
  F(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *))                                                                               \
  F(int, EVP_CIPHER_CTX_ctrl, (EVP_CIPHER_CTX *, int, int, void *))                                                              \
  F(int, EVP_CipherInit_ex, (EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const unsigned char *, const unsigned char *, int)) \
  F(int, EVP_CipherUpdate, (EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int))                               \
  F(int, EVP_CipherFinal_ex, (EVP_CIPHER_CTX *, unsigned char *, int *))                                                         \
  F(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX *, const char *))                                                          \
  F(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX *, const char *, int))                                                            \
  F(int, SSL_CTX_load_verify_locations, (SSL_CTX *, const char *, const char *))                                                 \
  F(void, SSL_CTX_set_default_passwd_cb, (SSL_CTX *, give_password *))                                                           \
  F(void, SSL_CTX_set_verify_depth, (SSL_CTX *, int))                                                                            \
  F(X509_STORE *, SSL_CTX_get_cert_store, (const SSL_CTX *))                                                                     \
  F(X509_LOOKUP *, X509_STORE_add_lookup, (X509_STORE *, X509_LOOKUP_METHOD *))                                                  \
  F(X509_LOOKUP_METHOD *, X509_LOOKUP_file, (void))                                                                              \
  F(int, X509_load_crl_file, (X509_LOOKUP *, const char *, int))                                                                 \
  F(int, X509_STORE_set_flags, (X509_STORE *, unsigned long))                                                                    \
  F(int, SSL_get_ex_data_X509_STORE_CTX_idx, (void))                                                                             \
  F(void *, X509_STORE_CTX_get_ex_data, (const X509_STORE_CTX *, int))                                                           \
  F(int, X509_STORE_CTX_get_error, (const X509_STORE_CTX *))                                                                     \
  F(int, X509_STORE_CTX_get_error_depth, (const X509_STORE_CTX *))                                                               \
  F(const char *, X509_verify_cert_error_string, (long))                                                                         \
  F(X509_VERIFY_PARAM *, SSL_get0_param, (SSL *))                                                                                \
  F(void, X509_VERIFY_PARAM_set_hostflags, (X509_VERIFY_PARAM *, unsigned))                                                      \
  F(int, X509_VERIFY_PARAM_set1_host, (X509_VERIFY_PARAM *, const char *, size_t))                                               \
  F(int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM *, const char *))                                                     \
  F(SSL_SESSION *, SSL_get_session, (const SSL *))                                                                               \
  F(X509 *, SSL_SESSION_get0_peer, (SSL_SESSION *))                                                                              \
  F(int, i2d_X509, (const X509 *, unsigned char **))                                                                             \
  F(int, SSL_has_pending, (const SSL *))                                                                                         \
  F(int, SSL_export_keying_material, (SSL *, unsigned char *, size_t, const char *, size_t, const unsigned char *, size_t, int)) \
  F(unsigned long, ERR_peek_last_error, (void))                                                                                  \
  F(void, ERR_clear_error, (void))                                                                                               \
  F(void, ERR_error_string_n, (unsigned long, char *, size_t))

struct graft_tls_library {
#define GRAFT_TLS_FIELD(result, name, parameters) result(*name) parameters;
  GRAFT_TLS_FUNCTIONS(GRAFT_TLS_FIELD)
#undef GRAFT_TLS_FIELD
};

/* The functions of this machine's OpenSSL, opened at the first call. NULL with a reason. */
const struct graft_tls_library *graft_tls_library(char *reason, size_t size);

/* The time of deadlines, in milliseconds. */
int64_t graft_tls_milliseconds(void);
/* Waits for what OpenSSL wants by SSL_get_error. False after the deadline. */
bool graft_tls_await(int fd, int error, int64_t deadline);

#endif
