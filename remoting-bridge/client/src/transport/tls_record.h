/* The records of TLS 1.3 behind its handshake (RFC 8446, 5), for one direction of a connection.
 *
 * OpenSSL performs the handshake and computes the ciphers, but its own record functions copy each byte twice more, make a system call
 * for each 16 KiB and allow only one thread in a connection. Here a record is encrypted from the caller's memory to where it is sent
 * from, and decrypted from where it was received to the caller's memory; the two directions share nothing.
 */
#ifndef GRAFT_TLS_RECORD_H
#define GRAFT_TLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/tls_library.h"

enum {
  TLS_RECORD = 1 << 14,                        /* the most bytes in a record (5.1) */
  TLS_HEADER = 5,                              /* bytes before the encrypted part */
  TLS_TAG = 16,                                /* bytes at its end, by which it is authenticated */
  TLS_ADDED = TLS_HEADER + 1 + TLS_TAG,        /* what encryption adds to the bytes; 1: the type */
  TLS_LARGEST = TLS_HEADER + TLS_RECORD + 256, /* (5.2) */
  TLS_SECRET = 32,                             /* both suites have SHA-256 */
  TLS_ALERT = 21,
  TLS_HANDSHAKE = 22,
  TLS_DATA = 23,
  TLS_AES_128_GCM_SHA256 = 0x1301,
  TLS_CHACHA20_POLY1305_SHA256 = 0x1303,
};

/* The key of one direction. Its fields belong to the thread that sends, or to the one that receives. */
struct graft_tls_key {
  const struct graft_tls_library *lib;
  EVP_CIPHER_CTX *cipher; /* NULL after graft_tls_key_hand_over */
  bool encrypts, is_aes;
  uint8_t secret[TLS_SECRET], iv[12];
  uint64_t records; /* encrypted or decrypted with this key */
};

/* Makes the key from the direction's traffic secret (7.3), for a suite of those above. False without memory. */
bool graft_tls_key_open(struct graft_tls_key *key, const struct graft_tls_library *lib, unsigned suite, const uint8_t *secret,
                        bool encrypts);
/* Replaces the key by the one that follows it (7.2). The earlier one cannot be computed from it. */
bool graft_tls_key_update(struct graft_tls_key *key);
void graft_tls_key_close(struct graft_tls_key *key);
/* Computes the key itself: 16 bytes with AES, 32 without. */
void graft_tls_key_bytes(const struct graft_tls_key *key, uint8_t *to);
/* Somebody else encrypts with this key and its successors from here on (ktls.h): OpenSSL forgets it. */
void graft_tls_key_hand_over(struct graft_tls_key *key);

/* Encrypts a record of at most TLS_RECORD bytes to "to", where it has TLS_ADDED bytes more. */
bool graft_tls_encrypt(struct graft_tls_key *key, uint8_t type, const void *data, size_t bytes, uint8_t *to);
/* The bytes of the first record of those that have arrived; 0 if that is not whole; -1 if it is none. */
ssize_t graft_tls_measure(const uint8_t *arrived, size_t bytes);
/* Decrypts a whole record to "to", which has room for all its bytes but TLS_ADDED. Returns the number of bytes in it, and their type;
 * -1 if it is not the other end's next record: then "to" holds nothing of use. */
ssize_t graft_tls_decrypt(struct graft_tls_key *key, const uint8_t *record, size_t bytes, void *to, uint8_t *type);

#endif
