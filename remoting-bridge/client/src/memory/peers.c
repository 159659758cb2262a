#include "memory/peers.h"

#include <pthread.h>

#include "api/contexts.h"
#include "api/rpc.h"
#include "base/config.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/ranges.h"
#include "session/session.h"

/* Smaller copies cost less in the records of a read and a write. */
#define LEAST (64u << 10)

/* A link between two servers. Its lock is held during a copy, since one copy at a time goes over a link. */
struct link {
  pthread_mutex_t lock;
  bool tried, open;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct link links[GRAFT_MOST_SERVERS][GRAFT_MOST_SERVERS]; /* the lower number of a server first */

static void init(void) {
  for (int i = 0; i < GRAFT_MOST_SERVERS; i++) {
    for (int j = 0; j < GRAFT_MOST_SERVERS; j++) pthread_mutex_init(&links[i][j].lock, NULL);
  }
}

/* The number by which both servers know the link. */
static uint32_t number_of(const struct link *link) { return (uint32_t)(link - &links[0][0]); }

/* Has the server of one context connect to the session of the other. */
static bool connect_to(const struct link *link, struct graft_object *from, const struct graft_object *to) {
  uint8_t ticket[GRAFT_TICKET];
  if (!graft_session_ticket(to->session, ticket) || graft_context_push(from)) return false;
  int r = rpc_graftPeerOpen(number_of(link), ticket);
  cuCtxPopCurrent_v2(NULL);
  return r == GRAFT_OK;
}

/* Opens the link at the first copy. Called with its lock held. */
static bool open_link(struct link *link, const struct graft_peer_copy *copy) {
  if (!link->tried) {
    link->tried = true;
    link->open = connect_to(link, copy->source, copy->target) || connect_to(link, copy->target, copy->source);
    if (graft_debug())
      graft_say("copies between server %d and server %d go %s", graft_session_server(copy->source->session),
                graft_session_server(copy->target->session), link->open ? "from server to server" : "through this process");
  }
  return link->open;
}

static void close_at(const struct link *link, struct graft_object *context) {
  if (graft_context_push(context)) return;
  rpc_graftPeerClose(number_of(link));
  cuCtxPopCurrent_v2(NULL);
}

static int receive(const struct link *link, const struct graft_peer_copy *copy, uint64_t *number) {
  int r = graft_context_push(copy->target);
  if (r) return r;
  r = rpc_graftPeerReceive(number_of(link), copy->to, copy->bytes, number);
  cuCtxPopCurrent_v2(NULL);
  return r;
}

static int send_to(const struct link *link, const struct graft_peer_copy *copy, uint64_t number) {
  int r = graft_context_push(copy->source);
  if (r) return r;
  r = rpc_graftPeerSend(number_of(link), number, copy->from, copy->bytes);
  cuCtxPopCurrent_v2(NULL);
  return r;
}

static int await(const struct link *link, const struct graft_peer_copy *copy, uint64_t number) {
  int r = graft_context_push(copy->target);
  if (r) return r;
  r = rpc_graftPeerAwait(number_of(link), number);
  cuCtxPopCurrent_v2(NULL);
  return r;
}

/* The program's side of other memory, such as managed memory, may be newer than the device's. */
static bool is_of_device(uint64_t address) {
  struct graft_range range;
  return graft_range_find_anywhere(address, &range) && range.memory == GRAFT_MEMORY_DEVICE;
}

bool graft_peers_copy(const struct graft_peer_copy *copy) {
  if (copy->bytes < LEAST || !is_of_device(copy->to) || !is_of_device(copy->from)) return false;
  int a = graft_session_server(copy->target->session), b = graft_session_server(copy->source->session);
  pthread_once(&once, init);
  struct link *link = a < b ? &links[a][b] : &links[b][a];
  pthread_mutex_lock(&link->lock);
  bool done = false;
  if (open_link(link, copy)) {
    uint64_t number = 0;
    done = !receive(link, copy, &number) && !send_to(link, copy, number) && !await(link, copy, number);
    if (!done) { /* a copy that has begun ends with its link */
      link->open = false;
      close_at(link, copy->target);
      close_at(link, copy->source);
    }
  }
  pthread_mutex_unlock(&link->lock);
  return done;
}
