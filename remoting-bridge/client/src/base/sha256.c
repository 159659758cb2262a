/* SHA-256 (FIPS 180-4) for code, and HMAC (RFC 2104) for the handshake. */
#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "base/crypto.h"

static const uint32_t K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                               0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
                               0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
                               0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
                               0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
                               0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
                               0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                               0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct sha256 {
  uint32_t state[8];
  uint64_t bytes;
  uint8_t block[64];
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* With the processor's instructions (Intel SHA extensions), several times as fast. */
static bool has_instructions(void) {
  static int known; /* 1 without, 2 with */
  if (!known) {
    unsigned a, b, c, d, features = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) features = b;
    bool sse = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSSE3 && c & bit_SSE4_1;
    known = sse && features & bit_SHA ? 2 : 1;
  }
  return known == 2;
}

__attribute__((target("sha,sse4.1"))) static void compress_by_instructions(struct sha256 *s, const uint8_t *p) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i w[4], low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)s->state), 0xb1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(s->state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
  const __m128i abef_before = abef, cdgh_before = cdgh;
  for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), big_endian);
  for (int i = 0; i < 16; i++) {
    __m128i k = _mm_add_epi32(w[i % 4], _mm_loadu_si128((const __m128i *)(K + 4 * i)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
    if (i < 12) {
      __m128i sum = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
      sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
      w[i % 4] = _mm_sha256msg2_epu32(sum, w[(i + 3) % 4]);
    }
  }
  low = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b);
  high = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
  _mm_storeu_si128((__m128i *)s->state, _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128((__m128i *)(s->state + 4), _mm_alignr_epi8(high, low, 8));
}

static void compress(struct sha256 *s, const uint8_t *p) {
  if (has_instructions()) {
    compress_by_instructions(s, p);
    return;
  }
  uint32_t w[64];
  for (int i = 0; i < 16; i++) {
    w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
  }
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  uint32_t v[8];
  memcpy(v, s->state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t e = v[4], a = v[0];
    uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + K[i] + w[i];
    uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) s->state[i] += v[i];
}

static void start(struct sha256 *s) {
  static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(s->state, initial, sizeof initial);
  s->bytes = 0;
}

static void add(struct sha256 *s, const uint8_t *data, size_t bytes) {
  while (bytes) {
    if (s->bytes % 64 == 0 && bytes >= 64) { /* without copying */
      compress(s, data);
      s->bytes += 64;
      data += 64;
      bytes -= 64;
      continue;
    }
    size_t have = s->bytes % 64, take = 64 - have < bytes ? 64 - have : bytes;
    memcpy(s->block + have, data, take);
    s->bytes += take;
    data += take;
    bytes -= take;
    if (s->bytes % 64 == 0) compress(s, s->block);
  }
}

static void finish(struct sha256 *s, uint8_t out[32]) {
  uint64_t bits = s->bytes * 8;
  static const uint8_t padding[64] = {0x80};
  size_t have = s->bytes % 64;
  add(s, padding, have < 56 ? 56 - have : 120 - have);
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  add(s, length, 8);
  for (int i = 0; i < 32; i++) out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void graft_sha256(const void *data, size_t bytes, uint8_t out[32]) {
  struct sha256 s;
  start(&s);
  add(&s, data, bytes);
  finish(&s, out);
}

void graft_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *const *parts, const size_t *sizes, int count,
                       uint8_t out[32]) {
  uint8_t pad[64] = {0}, inner[32];
  struct sha256 s;
  if (key_bytes > 64) {
    start(&s);
    add(&s, key, key_bytes);
    finish(&s, pad);
  } else {
    memcpy(pad, key, key_bytes);
  }
  for (int i = 0; i < 64; i++) pad[i] ^= 0x36;
  start(&s);
  add(&s, pad, 64);
  for (int i = 0; i < count; i++) add(&s, parts[i], sizes[i]);
  finish(&s, inner);
  for (int i = 0; i < 64; i++) pad[i] ^= 0x36 ^ 0x5c;
  start(&s);
  add(&s, pad, 64);
  add(&s, inner, 32);
  finish(&s, out);
}
