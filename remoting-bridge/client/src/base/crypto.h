/* SHA-256 (FIPS 180-4) and MD2 (RFC 1319), with HMAC (RFC 2104). */
#ifndef GRAFT_CRYPTO_H
#define GRAFT_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

void graft_sha256(const void *data, size_t bytes, uint8_t out[32]);
void graft_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *const *parts, const size_t *sizes, int count,
                       uint8_t out[32]);
void graft_md2(const uint8_t *data, size_t bytes, uint8_t out[16]);
void graft_hmac_md2(const uint8_t *key, size_t key_bytes, const uint8_t *data, size_t bytes, uint8_t out[16]);

#endif
