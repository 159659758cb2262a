#include "memory/known_data.h"

#include <string.h>

#include "api/rpc.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "session/parts.h"
#include "session/session.h"
#include "session/stats.h"

/* The server keeps data of these sizes (KeptData). Larger data is sent in pieces. */
#define LEAST (64u << 10)
#define PIECE (16u << 20)
/* Hashing must be so many times as fast as sending, since its time is lost for data that the server does not have. */
#define FASTER 4
/* SHA-256 without the processor's instructions, until it is measured. */
#define SUPPOSED 250e6

static uint64_t hashed_bytes, hashed_nanoseconds;

static double hashing_rate(void) {
  uint64_t nanoseconds = __atomic_load_n(&hashed_nanoseconds, __ATOMIC_RELAXED);
  return nanoseconds ? (double)__atomic_load_n(&hashed_bytes, __ATOMIC_RELAXED) * 1e9 / (double)nanoseconds : SUPPOSED;
}

static void hash_data(const void *data, size_t bytes, uint8_t hash[32]) {
  uint64_t begun = graft_now();
  graft_sha256(data, bytes, hash);
  __atomic_fetch_add(&hashed_nanoseconds, graft_now() - begun, __ATOMIC_RELAXED);
  __atomic_fetch_add(&hashed_bytes, bytes, __ATOMIC_RELAXED);
}

/* Whether looking for known data is worth its time on the connection. */
static bool is_wanted(void) {
  enum graft_known_data_choice choice = graft_session_config()->known_data;
  if (choice == GRAFT_KNOWN_DATA_NO || graft_session_shares_memory()) return false;
  if (choice == GRAFT_KNOWN_DATA_YES) return true;
  double rate = graft_session_rate();
  return rate < 0 ? graft_session_is_far(graft_session_current()) : rate > 0 && rate * FASTER < hashing_rate();
}

/* Returns the session's hints, NULL as long as they have not arrived. Asks for them at the first call. */
static const struct graft_known_data *known_data(void) {
  struct graft_session *session = graft_session_current();
  struct graft_known_data *known = &graft_parts(session)->known_data;
  pthread_mutex_lock(&known->lock);
  if (!known->asked) {
    known->asked = true;
    uint64_t read = graft_read_expect(known->hints, sizeof known->hints);
    if (read && rpc_graftKnownData(sizeof known->hints, read)) graft_read_forget(session, read);
  }
  pthread_mutex_unlock(&known->lock);
  return graft_read_pending(known->hints, sizeof known->hints) ? NULL : known;
}

void graft_known_data_begin(void) {
  if (is_wanted()) known_data();
}

/* Whether the server has the data. Data is hashed only if it has any. */
static bool is_known(const struct graft_known_data *known, const void *data, size_t bytes, uint8_t hash[32]) {
  static const uint8_t end[GRAFT_KNOWN_DATA_HINT];
  if (bytes < LEAST || !memcmp(known->hints[0], end, sizeof end)) return false;
  hash_data(data, bytes, hash);
  for (int i = 0; i < GRAFT_KNOWN_DATA_MOST; i++) {
    if (!memcmp(known->hints[i], hash, GRAFT_KNOWN_DATA_HINT)) return true;
  }
  return false;
}

int graft_known_data_write(uint64_t to, const void *from, size_t bytes, void *stream) {
  bool wanted = bytes >= LEAST && is_wanted();
  const struct graft_known_data *known = wanted ? known_data() : NULL;
  size_t most = wanted ? PIECE : bytes;
  int r = 0;
  for (size_t at = 0; at < bytes && !r; at += most) {
    const uint8_t *data = (const uint8_t *)from + at;
    size_t piece = bytes - at < most ? bytes - at : most;
    uint8_t hash[32];
    if (known && is_known(known, data, piece, hash)) {
      graft_stats_known(piece);
      r = rpc_graftWriteKnown(to + at, hash, piece, stream);
      continue;
    }
    r = rpc_graftWrite(to + at, data, piece, stream);
  }
  return r;
}
