/* The sessions of a program that uses several servers: one for each, opened in parallel when the program starts CUDA, since the number of its devices has to be known then. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "api/devices.h"
#include "api/rpc.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/system.h"
#include "session/session.h"
#include "session/state.h"

bool graft_several_servers;

int graft_session_server(const struct graft_session *session) { return session->server; }

struct graft_session *graft_session_of_server(int server) {
  struct graft_session *s = graft_session_next(NULL);
  while (s && s->server != server) s = graft_session_next(s);
  return s;
}

bool graft_session_ticket(const struct graft_session *session, uint8_t ticket[GRAFT_TICKET]) {
  static const char label[] = "graft peer 1";
  if (!graft_session_is_open(session)) return false;
  const void *parts[] = {label};
  const size_t sizes[] = {sizeof label - 1};
  memset(ticket, 0, GRAFT_TICKET);
  memcpy(ticket, &session->key.session, 8);
  graft_hmac_sha256(session->key.secret, sizeof session->key.secret, parts, sizes, 1, ticket + 8);
  memcpy(ticket + 40, session->config.name, strnlen(session->config.name, 64));
  return true;
}

/* As graft.remoting.server.system.AddressRange has them. */
#define FIRST_RANGE 0x400000000000ull
#define RANGE_BITS 43

struct graft_session *graft_session_of_range(uint64_t address) {
  struct graft_session *s = address < FIRST_RANGE ? NULL : graft_session_of_server((int)((address - FIRST_RANGE) >> RANGE_BITS));
  return s && s->config.addresses ? s : NULL;
}

bool graft_session_may_place(struct graft_session *session, uint64_t base, uint64_t bytes) {
  return !session->config.addresses ||
         (graft_session_of_range(base) == session && graft_session_of_range(base + bytes - 1) == session);
}

static struct {
  pthread_mutex_t lock;
  bool done; /* read without the lock, by acquire */
  int result;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How many servers are configured; 1 if the configuration cannot be read, which the session's opening reports. */
static int configured(void) {
  struct graft_config *config = malloc(sizeof *config);
  char reason[400];
  int count = config && graft_config_read(config, 0, reason, sizeof reason) ? config->server_count : 1;
  free(config);
  return count;
}

static sem_t opened;

static void *open_one(void *session) {
  graft_session_open(session);
  sem_post(&opened);
  return NULL;
}

/* Makes the sessions with the further servers, and opens all of them. */
static int open_several(int count) {
  sem_init(&opened, 0, 0);
  graft_several_servers = true;
  int started = 0;
  for (int i = 1; i < count; i++) {
    struct graft_session *session = calloc(1, sizeof *session);
    if (!session) break;
    session->server = i;
    graft_session_init(session);
    if (graft_start_thread(open_one, session))
      started++;
    else
      graft_session_open(session);
  }
  int result = graft_session_open(&graft_default_session);
  while (started--) {
    while (sem_wait(&opened)) {} /* a signal's handler has run */
  }
  graft_devices_join();
  struct graft_session *first = graft_session_next(NULL);
  while (first && !graft_session_is_open(first)) first = graft_session_next(first);
  if (!first) return result;
  __atomic_store_n(&graft_first_session, first, __ATOMIC_RELAXED);
  return GRAFT_OK;
}

int graft_sessions_open(void) {
  if (graft_session_is_chosen()) return graft_session_open(graft_session_current());
  if (__atomic_load_n(&all.done, __ATOMIC_ACQUIRE))
    return graft_several_servers ? all.result : graft_session_open(&graft_default_session);
  pthread_mutex_lock(&all.lock);
  if (!all.done) {
    int count = configured();
    all.result = count > 1 ? open_several(count) : graft_session_open(&graft_default_session);
    __atomic_store_n(&all.done, true, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&all.lock);
  return all.result;
}
