#include "transport/tls_record.h"

#include <string.h>

#include "base/crypto.h"

/* HKDF-Expand-Label (RFC 8446, 7.1) without a context, for results of at most one block. */
static void expand(const uint8_t *secret, const char *label, uint8_t *out, size_t bytes) {
  uint8_t info[32] = {0, (uint8_t)bytes, (uint8_t)(6 + strlen(label))}, block[32];
  size_t used = 3;
  memcpy(info + used, "tls13 ", 6);
  memcpy(info + used + 6, label, strlen(label));
  used += 6 + strlen(label);
  info[used++] = 0; /* the context's length */
  info[used++] = 1; /* the first block (RFC 5869) */
  const void *parts[] = {info};
  graft_hmac_sha256(secret, TLS_SECRET, parts, &used, 1, block);
  memcpy(out, block, bytes);
  explicit_bzero(block, sizeof block);
}

void graft_tls_key_bytes(const struct graft_tls_key *k, uint8_t *to) { expand(k->secret, "key", to, k->is_aes ? 16 : 32); }

/* Sets key and IV from the secret. */
static bool set(struct graft_tls_key *k) {
  uint8_t key[32];
  expand(k->secret, "iv", k->iv, sizeof k->iv);
  k->records = 0;
  if (!k->cipher) return true;
  graft_tls_key_bytes(k, key);
  bool is_set = k->lib->EVP_CipherInit_ex(k->cipher, NULL, NULL, key, NULL, k->encrypts);
  explicit_bzero(key, sizeof key);
  return is_set;
}

bool graft_tls_key_open(struct graft_tls_key *key, const struct graft_tls_library *lib, unsigned suite, const uint8_t *secret,
                        bool encrypts) {
  *key = (struct graft_tls_key){.lib = lib, .encrypts = encrypts, .is_aes = suite == TLS_AES_128_GCM_SHA256};
  memcpy(key->secret, secret, sizeof key->secret);
  key->cipher = lib->EVP_CIPHER_CTX_new();
  const EVP_CIPHER *cipher = key->is_aes ? lib->EVP_aes_128_gcm() : lib->EVP_chacha20_poly1305();
  return key->cipher && lib->EVP_CipherInit_ex(key->cipher, cipher, NULL, NULL, NULL, encrypts) && set(key);
}

bool graft_tls_key_update(struct graft_tls_key *key) {
  uint8_t next[TLS_SECRET];
  expand(key->secret, "traffic upd", next, sizeof next);
  memcpy(key->secret, next, sizeof next);
  explicit_bzero(next, sizeof next);
  return set(key);
}

void graft_tls_key_hand_over(struct graft_tls_key *key) {
  if (key->cipher) key->lib->EVP_CIPHER_CTX_free(key->cipher);
  key->cipher = NULL;
}

void graft_tls_key_close(struct graft_tls_key *key) {
  graft_tls_key_hand_over(key);
  explicit_bzero(key, sizeof *key);
}

/* Begins a record: the nonce is its number (5.3), and its header is authenticated with it. */
static bool begin(struct graft_tls_key *k, const uint8_t *header) {
  uint8_t nonce[sizeof k->iv];
  int n;
  memcpy(nonce, k->iv, sizeof nonce);
  for (unsigned i = 0; i < 8; i++) nonce[sizeof nonce - 1 - i] ^= (uint8_t)(k->records >> 8 * i);
  k->records++;
  return k->lib->EVP_CipherInit_ex(k->cipher, NULL, NULL, NULL, nonce, k->encrypts) &&
         k->lib->EVP_CipherUpdate(k->cipher, NULL, &n, header, TLS_HEADER);
}

static bool process(struct graft_tls_key *k, uint8_t *to, const uint8_t *from, size_t bytes) {
  int n;
  return !bytes || (k->lib->EVP_CipherUpdate(k->cipher, to, &n, from, (int)bytes) && (size_t)n == bytes);
}

bool graft_tls_encrypt(struct graft_tls_key *k, uint8_t type, const void *data, size_t bytes, uint8_t *to) {
  size_t length = bytes + 1 + TLS_TAG;
  const uint8_t header[TLS_HEADER] = {TLS_DATA, 3, 3, (uint8_t)(length >> 8), (uint8_t)length};
  uint8_t *end = to + TLS_HEADER + bytes + 1;
  int none;
  memcpy(to, header, sizeof header);
  return begin(k, header) && process(k, to + TLS_HEADER, data, bytes) && process(k, end - 1, &type, 1) &&
         k->lib->EVP_CipherFinal_ex(k->cipher, end, &none) && k->lib->EVP_CIPHER_CTX_ctrl(k->cipher, AEAD_GET_TAG, TLS_TAG, end);
}

ssize_t graft_tls_measure(const uint8_t *arrived, size_t bytes) {
  if (bytes < TLS_HEADER) return 0;
  size_t all = TLS_HEADER + (size_t)(arrived[3] << 8 | arrived[4]);
  if (arrived[0] != TLS_DATA || arrived[1] != 3 || arrived[2] != 3 || all < TLS_ADDED || all > TLS_LARGEST) return -1;
  return bytes < all ? 0 : (ssize_t)all;
}

ssize_t graft_tls_decrypt(struct graft_tls_key *k, const uint8_t *record, size_t bytes, void *to, uint8_t *type) {
  uint8_t *data = to, tag[TLS_TAG];
  size_t count = bytes - TLS_ADDED;
  int none;
  memcpy(tag, record + bytes - TLS_TAG, TLS_TAG); /* OpenSSL takes it as memory that is not constant */
  if (!begin(k, record) || !process(k, data, record + TLS_HEADER, count) || !process(k, type, record + TLS_HEADER + count, 1) ||
      !k->lib->EVP_CIPHER_CTX_ctrl(k->cipher, AEAD_SET_TAG, TLS_TAG, tag) ||
      k->lib->EVP_CipherFinal_ex(k->cipher, tag, &none) <= 0) {
    return -1;
  }
  /* Zeros may follow the type (5.4). */
  while (!*type && count) *type = data[--count];
  return *type && count <= TLS_RECORD ? (ssize_t)count : -1;
}
