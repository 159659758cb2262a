/* Code that the server has kept from other sessions of this client's name is not sent again; its SHA-256 is. */
#include <pthread.h>
#include <string.h>

#include "base/crypto.h"
#include "graft_rpc.h"
#include "module/code.h"
#include "session/parts.h"
#include "session/session.h"

/* Sending less than this is faster than computing its hash. */
#define LEAST (64u << 10)

bool graft_code_is_known(const void *data, size_t bytes, uint8_t hash[32]) {
  /* Through shared memory, sending is faster than computing the hash. */
  if (bytes < LEAST || graft_session_shares_memory()) return false;
  struct graft_known_code *known = &graft_parts(graft_session_current())->known_code;
  pthread_mutex_lock(&known->lock);
  if (!known->asked) {
    uint32_t count = 0;
    bool answered = !rpc_graftKnownCode(known->hashes[0], sizeof known->hashes, &count) && count <= GRAFT_MOST_KNOWN_CODE;
    known->count = answered ? count : 0;
    known->asked = true;
  }
  pthread_mutex_unlock(&known->lock);
  if (!known->count) return false;
  graft_sha256(data, bytes, hash);
  for (uint32_t i = 0; i < known->count; i++) {
    if (!memcmp(hash, known->hashes[i], 32)) return true;
  }
  return false;
}
