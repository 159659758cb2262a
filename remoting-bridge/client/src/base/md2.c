/* MD2 (RFC 1319) and HMAC with it (RFC 2104), for the CUDA runtime's integrity check. */
#include <string.h>

#include "base/crypto.h"

/* The permutation made from the digits of pi (RFC 1319, section 3.2). */
static const uint8_t S[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243, 192, 199, 115, 140,
    152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,  103, 66,  111, 24,  138, 23,  229, 18,
    190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,
    148, 194, 16,  137, 11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151, 3,
    255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184, 56,  210, 150, 164, 125, 182,
    118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100, 113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,
    27,  96,  37,  173, 174, 176, 185, 246, 28,  70,  97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,
    195, 92,  249, 206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,
    106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109,
    233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,
    49,  68,  80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

struct md2 {
  uint8_t state[48], checksum[16], block[16];
  size_t have;
};

static void compress(struct md2 *m, const uint8_t *p) {
  for (int i = 0; i < 16; i++) {
    m->state[16 + i] = p[i];
    m->state[32 + i] = m->state[i] ^ p[i];
  }
  unsigned t = 0;
  for (unsigned round = 0; round < 18; round++) {
    for (int i = 0; i < 48; i++) t = m->state[i] ^= S[t];
    t = (t + round) & 0xff;
  }
  unsigned last = m->checksum[15];
  for (int i = 0; i < 16; i++) last = m->checksum[i] ^= S[p[i] ^ last];
}

static void add(struct md2 *m, const uint8_t *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    m->block[m->have++] = data[i];
    if (m->have == 16) {
      compress(m, m->block);
      m->have = 0;
    }
  }
}

static void finish(struct md2 *m, uint8_t out[16]) {
  uint8_t padding = (uint8_t)(16 - m->have);
  for (uint8_t n = padding; n; n--) add(m, &padding, 1);
  uint8_t checksum[16];
  memcpy(checksum, m->checksum, 16);
  add(m, checksum, 16);
  memcpy(out, m->state, 16);
}

void graft_md2(const uint8_t *data, size_t bytes, uint8_t out[16]) {
  struct md2 m = {0};
  add(&m, data, bytes);
  finish(&m, out);
}

void graft_hmac_md2(const uint8_t *key, size_t key_bytes, const uint8_t *data, size_t bytes, uint8_t out[16]) {
  uint8_t pad[16] = {0}, inner[16];
  memcpy(pad, key, key_bytes > 16 ? 16 : key_bytes);
  for (int i = 0; i < 16; i++) pad[i] ^= 0x36;
  struct md2 m = {0};
  add(&m, pad, 16);
  add(&m, data, bytes);
  finish(&m, inner);
  for (int i = 0; i < 16; i++) pad[i] ^= 0x36 ^ 0x5c;
  memset(&m, 0, sizeof m);
  add(&m, pad, 16);
  add(&m, inner, 16);
  finish(&m, out);
}
