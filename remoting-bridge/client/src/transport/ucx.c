/* Sending, receiving and waiting over a connection of UCX. */
#include "transport/ucx.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "transport/ucx_internal.h"

#define LOOKS_NANOSECONDS 50000u /* how long a thread polls before it sleeps */
#define LEAST_MILLISECONDS 10    /* the shortest and the longest sleep */
#define MOST_MILLISECONDS 1000
#define LEFT_NANOSECONDS 10000000000u
#define LEFT_MILLISECONDS 5

/* ---- Waiting ---- */

/* UCX's TCP transport keeps data that its socket does not accept at once, and sends it only when UCX is called; a flush would need the other end's help. So a thread that sleeps here wakes now and then, as long as data may be left. Other transports keep hardly any data, which is sent before each sleep. */
static bool send_left(struct graft_ucx *c) {
  uint64_t until = __atomic_load_n(&c->left_until, __ATOMIC_RELAXED);
  if (!until || graft_ucx_now() > until) return false;
  if (!pthread_mutex_trylock(&c->sending)) {
    ucx.ucp_worker_progress(c->out.worker);
    pthread_mutex_unlock(&c->sending);
  }
  return c->keeps;
}

/* Sleeps until a device has an event, at most as long as the thread has waited already, since UCX or a driver may lose a wake-up. False if the peer is gone, as its socket says. */
static bool sleep_on(struct graft_ucx *c, struct graft_ucx_side *side, uint64_t waited) {
  bool left = side == &c->in && send_left(c);
  uint64_t milliseconds = LEAST_MILLISECONDS + waited / 1000000u;
  if (ucx.ucp_worker_arm(side->worker) != UCS_OK) return true; /* something has arrived */
  /* Checked again, since on rxe an arrival before the device was armed does not wake. */
  if (ucx.ucp_worker_progress(side->worker)) return true;
  if (milliseconds > MOST_MILLISECONDS) milliseconds = MOST_MILLISECONDS;
  if (left && milliseconds > LEFT_MILLISECONDS) milliseconds = LEFT_MILLISECONDS;
  side->slept = true;
  struct pollfd fds[] = {{.fd = side->events, .events = POLLIN}, {.fd = c->wire.fd, .events = POLLRDHUP}};
  return poll(fds, 2, (int)milliseconds) < 0 || !fds[1].revents;
}

/* ---- Messages under way ---- */

static void take_off(struct graft_ucx *c, struct graft_ucx_flight *f, ucs_status_ptr_t request) {
  if (UCS_PTR_IS_ERR(request)) {
    c->broken = UCS_PTR_STATUS(request);
  } else if (request) {
    f->requests[(f->first + f->count++) % GRAFT_UCX_WINDOW] = request;
    f->begun++;
  }
}

/* Removes the oldest message, which is over. */
static void land(struct graft_ucx *c, struct graft_ucx_flight *f, ucs_status_t status) {
  if (status != UCS_OK) c->broken = status;
  ucx.ucp_request_free(f->requests[f->first]);
  f->first = (f->first + 1) % GRAFT_UCX_WINDOW;
  f->count--;
}

/* Lets UCX make progress; returns whether there was something to do. If a sleep was too early, later polling takes longer; if polling found nothing, later polling is shorter, since it takes a CPU that soft RoCE may need for the wire. */
static bool progress(struct graft_ucx *c, struct graft_ucx_side *side, struct graft_ucx_flight *f) {
  if (!ucx.ucp_worker_progress(side->worker)) return false;
  uint64_t then = graft_ucx_now();
  if (side->slept) {
    side->looks = then - f->since < c->looks ? side->looks * 2 : side->looks / 2;
    if (side->looks < LOOKS_NANOSECONDS) side->looks = LOOKS_NANOSECONDS;
    if (side->looks > c->looks) side->looks = c->looks;
    side->slept = false;
  }
  f->since = then;
  return true;
}

/* Lets UCX make progress, and sleeps if there has been nothing to do for a while. Removes the messages that are over, the oldest first, and cancels all if the peer is gone. */
static void work(struct graft_ucx *c, struct graft_ucx_side *side, struct graft_ucx_flight *f) {
  ucs_status_t status;
  if (!progress(c, side, f) &&
      (c->broken || (graft_ucx_now() - f->since > side->looks && !sleep_on(c, side, graft_ucx_now() - f->since)))) {
    for (unsigned i = 0; i < f->count; i++) ucx.ucp_request_cancel(side->worker, f->requests[(f->first + i) % GRAFT_UCX_WINDOW]);
    while (ucx.ucp_worker_progress(side->worker)) continue;
    while (f->count) {
      status = ucx.ucp_request_check_status(f->requests[f->first]);
      land(c, f, status == UCS_INPROGRESS ? UCS_ERR_CONNECTION_RESET : status);
    }
  }
  while (f->count && (status = ucx.ucp_request_check_status(f->requests[f->first])) != UCS_INPROGRESS) land(c, f, status);
}

bool graft_ucx_finish(struct graft_ucx *c, struct graft_ucx_side *side, ucs_status_ptr_t request) {
  struct graft_ucx_flight f = {.since = graft_ucx_now()};
  take_off(c, &f, request);
  while (f.count) work(c, side, &f);
  return !c->broken;
}

const ucp_request_param_t graft_ucx_host_memory = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                                   .memory_type = UCS_MEMORY_TYPE_HOST};
const ucp_request_param_t graft_ucx_gpu_memory = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                                  .memory_type = UCS_MEMORY_TYPE_CUDA};

/* ---- Sending ---- */

static uint64_t begin(struct graft_ucx *c, const void *data, size_t bytes, const ucp_request_param_t *memory) {
  const uint8_t *at = data;
  struct graft_ucx_flight *f = &c->flight;
  pthread_mutex_lock(&c->sending);
  f->since = graft_ucx_now();
  if (bytes > GRAFT_UCX_SURELY_EAGER) __atomic_store_n(&c->left_until, f->since + LEFT_NANOSECONDS, __ATOMIC_RELAXED);
  while (bytes && !c->broken) {
    if (f->count == GRAFT_UCX_WINDOW) {
      work(c, &c->out, f);
      continue;
    }
    size_t take = bytes < GRAFT_UCX_MESSAGE ? bytes : GRAFT_UCX_MESSAGE;
    take_off(c, f, ucx.ucp_tag_send_nbx(c->peer, at, take, c->tag_out, memory));
    at += take;
    bytes -= take;
  }
  pthread_mutex_unlock(&c->sending);
  return f->begun;
}

uint64_t graft_ucx_begin(struct graft_ucx *c, const void *data, size_t bytes) {
  return begin(c, data, bytes, &graft_ucx_host_memory);
}

bool graft_ucx_is_over(const struct graft_ucx *c, uint64_t mark) { return c->flight.begun - c->flight.count >= mark; }

bool graft_ucx_work(struct graft_ucx *c) {
  pthread_mutex_lock(&c->sending);
  if (c->flight.count) work(c, &c->out, &c->flight);
  pthread_mutex_unlock(&c->sending);
  if (!c->broken) return true;
  errno = ECONNRESET;
  return false;
}

static bool send_all(struct graft_ucx *c, const void *data, size_t bytes, const ucp_request_param_t *memory) {
  uint64_t mark = begin(c, data, bytes, memory);
  while (!graft_ucx_is_over(c, mark)) graft_ucx_work(c);
  return graft_ucx_work(c);
}

bool graft_ucx_send(struct graft_ucx *c, const void *data, size_t bytes) {
  return send_all(c, data, bytes, &graft_ucx_host_memory);
}

bool graft_ucx_send_gpu(struct graft_ucx *c, const void *data, size_t bytes) {
  return send_all(c, data, bytes, &graft_ucx_gpu_memory);
}

void graft_ucx_send_left(struct graft_ucx *c, int bell) {
  struct pollfd p = {.fd = bell, .events = POLLIN};
  while (send_left(c) && poll(&p, 1, LEFT_MILLISECONDS) <= 0) continue;
}

/* ---- Receiving ---- */

static ssize_t take_rest(struct graft_ucx *c, void *to, size_t bytes) {
  size_t have = c->rest_end - c->rest_at;
  size_t take = bytes < have ? bytes : have;
  memcpy(to, c->rest + c->rest_at, take);
  c->rest_at += take;
  return (ssize_t)take;
}

/* The next message, if it has arrived; its length is in c->next_bytes. */
static bool find(struct graft_ucx *c) {
  ucp_tag_recv_info_t info;
  if (!c->next && (c->next = ucx.ucp_tag_probe_nb(c->in.worker, c->tag_in, UINT64_MAX, 1, &info))) c->next_bytes = info.length;
  return c->next;
}

static ucs_status_ptr_t take_next(struct graft_ucx *c, void *to, const ucp_request_param_t *memory) {
  ucp_tag_message_h message = c->next;
  c->next = NULL;
  return ucx.ucp_tag_msg_recv_nbx(c->in.worker, to, c->next_bytes, message, memory);
}

/* Receives the message that has arrived and those that follow it immediately, while there is room and the sender's data continues. */
static size_t take_several(struct graft_ucx *c, uint8_t *to, size_t bytes) {
  struct graft_ucx_flight f = {.since = graft_ucx_now()};
  size_t taken = 0;
  bool more = true;
  for (;;) {
    if (more && f.count < GRAFT_UCX_WINDOW && !c->broken && find(c) && c->next_bytes <= bytes - taken) {
      more = c->next_bytes == GRAFT_UCX_MESSAGE;
      take_off(c, &f, take_next(c, to + taken, &graft_ucx_host_memory));
      taken += c->next_bytes;
    } else if (f.count) {
      work(c, &c->in, &f);
    } else {
      return taken;
    }
  }
}

/* Whether the message that has arrived may be received there: whole, if it must not be cut. */
static bool fits(const struct graft_ucx *c, size_t bytes, bool in_part) {
  return c->next_bytes && c->next_bytes <= GRAFT_UCX_MESSAGE && (in_part || (c->next_bytes <= bytes && c->rest_at == c->rest_end));
}

/* Receives a message that is longer than what was asked for. */
static bool take_into_rest(struct graft_ucx *c) {
  size_t bytes = c->next_bytes;
  if (!graft_ucx_finish(c, &c->in, take_next(c, c->rest, &graft_ucx_host_memory))) return false;
  c->rest_at = 0;
  c->rest_end = bytes;
  return true;
}

ssize_t graft_ucx_try(struct graft_ucx *c, void *to, size_t bytes) {
  if (c->rest_at < c->rest_end) return take_rest(c, to, bytes);
  progress(c, &c->in, &c->taking);
  if (!find(c)) {
    errno = EAGAIN;
    return c->gone ? 0 : -1;
  }
  if (!fits(c, bytes, true)) {
    errno = EPROTO;
    return -1;
  }
  c->quiet_since = 0;
  size_t got = 0;
  if (c->next_bytes <= bytes) {
    got = take_several(c, to, bytes);
  } else if (take_into_rest(c)) {
    return take_rest(c, to, bytes);
  }
  if (!c->broken) return (ssize_t)got;
  errno = ECONNRESET;
  return -1;
}

void graft_ucx_wait(struct graft_ucx *c) {
  while (ucx.ucp_worker_progress(c->in.worker)) continue;
  if (find(c)) return;
  if (!c->quiet_since) c->quiet_since = graft_ucx_now();
  c->gone = !sleep_on(c, &c->in, graft_ucx_now() - c->quiet_since);
  while (c->gone && ucx.ucp_worker_progress(c->in.worker)) continue;
}

ssize_t graft_ucx_receive(struct graft_ucx *c, void *to, size_t bytes) {
  uint64_t since = graft_ucx_now();
  for (;;) {
    ssize_t n = graft_ucx_try(c, to, bytes);
    if (n >= 0 || errno != EAGAIN) return n;
    if (graft_ucx_now() - since > LOOKS_NANOSECONDS) graft_ucx_wait(c);
  }
}

/* Waits until a message has arrived, or one that is being received is over. */
static void await_any(struct graft_ucx *c) {
  struct graft_ucx_flight *f = &c->taking;
  if (f->count) {
    work(c, &c->in, f);
  } else if (!progress(c, &c->in, f) && graft_ucx_now() - f->since > c->in.looks) {
    graft_ucx_wait(c);
    if (c->gone && !find(c)) c->broken = UCS_ERR_CONNECTION_RESET;
  }
}

static int64_t take(struct graft_ucx *c, uint8_t *to, size_t bytes, const ucp_request_param_t *memory) {
  struct graft_ucx_flight *f = &c->taking;
  bool ours = memory == &graft_ucx_host_memory;
  f->since = graft_ucx_now();
  while (bytes && !c->broken) {
    size_t taken = 0;
    if (ours && c->rest_at < c->rest_end) {
      taken = (size_t)take_rest(c, to, bytes);
    } else if (f->count == c->taken_at_once || !find(c)) {
      await_any(c);
    } else if (!fits(c, bytes, ours)) {
      errno = EPROTO;
      return -1;
    } else if (c->next_bytes <= bytes) {
      taken = c->next_bytes;
      take_off(c, f, take_next(c, to, memory));
    } else {
      take_into_rest(c);
    }
    to += taken;
    bytes -= taken;
  }
  if (!c->broken) return (int64_t)f->begun;
  errno = ECONNRESET;
  return -1;
}

int64_t graft_ucx_take(struct graft_ucx *c, void *to, size_t bytes) { return take(c, to, bytes, &graft_ucx_host_memory); }

int64_t graft_ucx_take_gpu(struct graft_ucx *c, void *to, size_t bytes) { return take(c, to, bytes, &graft_ucx_gpu_memory); }

bool graft_ucx_is_taken(const struct graft_ucx *c, int64_t mark) { return c->taking.begun - c->taking.count >= (uint64_t)mark; }

bool graft_ucx_work_taking(struct graft_ucx *c) {
  if (c->taking.count) work(c, &c->in, &c->taking);
  if (!c->broken) return true;
  errno = ECONNRESET;
  return false;
}
