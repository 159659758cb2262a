// The sealed process of one card: exchanges frames with QEMU and has libslirp make TCP connections of them.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "slirp.h"
#include "usernet.h"

// QEMU sends each frame with its length before it, 4 bytes in network order (net/socket.c), and no frame is longer
// than its buffer of 4096 + 65536 bytes.
enum { LENGTH = 4, LONGEST = 4096 + 65536, BUFFER = 1 << 20, FEW = 1024 };

static struct slirp_library library;

struct card {
  int fd;
  Slirp *slirp;
  uint8_t in[BUFFER], out[BUFFER];
  size_t held, pending; // bytes of in and out
  struct pollfd *polled;
  int count, room;
};

static struct card card;

static bool load(void *handle, const char *name, void *target) {
  void *symbol = dlsym(handle, name);
  memcpy(target, &symbol, sizeof symbol); // ISO C converts no object pointer to a function pointer
  return symbol != NULL;
}

const char *stack_obstacle(void) {
  void *handle = dlopen("libslirp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return "libslirp.so.0 is not installed (Debian: libslirp0)";
  bool complete = load(handle, "slirp_new", &library.create) && load(handle, "slirp_add_unix", &library.add_unix) &&
                  load(handle, "slirp_input", &library.input) && load(handle, "slirp_pollfds_fill", &library.fill) &&
                  load(handle, "slirp_pollfds_poll", &library.poll);
  return complete ? NULL : "libslirp.so.0 is older than version 4.2";
}

static void end(void) { _exit(0); }

static void flush(void) {
  for (size_t sent = 0; sent < card.pending;) {
    ssize_t count = send(card.fd, card.out + sent, card.pending - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) end();
    sent += (size_t)count;
  }
  card.pending = 0;
}

static ssize_t send_packet(const void *frame, size_t bytes, void *opaque) {
  (void)opaque;
  if (bytes > LONGEST) return (ssize_t)bytes; // dropped, as a cable does
  if (card.pending + LENGTH + bytes > BUFFER) flush();
  uint32_t length = htonl((uint32_t)bytes);
  memcpy(card.out + card.pending, &length, LENGTH);
  memcpy(card.out + card.pending + LENGTH, frame, bytes);
  card.pending += LENGTH + bytes;
  return (ssize_t)bytes;
}

static int64_t clock_ns(void *opaque) {
  (void)opaque;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// What a guest does wrong is not logged: a guest could fill the disk with it.
static void guest_error(const char *message, void *opaque) { (void)message, (void)opaque; }

// libslirp's only timers are for IPv6, which is off.
static void *timer_new(void (*callback)(void *), void *callback_opaque, void *opaque) {
  (void)callback, (void)callback_opaque, (void)opaque;
  static int none;
  return &none;
}
static void timer_free(void *timer, void *opaque) { (void)timer, (void)opaque; }
static void timer_mod(void *timer, int64_t expires_ms, void *opaque) { (void)timer, (void)expires_ms, (void)opaque; }

static void nothing_fd(int fd, void *opaque) { (void)fd, (void)opaque; }
static void nothing(void *opaque) { (void)opaque; }

static const struct slirp_callbacks callbacks = {
    .send_packet = send_packet,
    .guest_error = guest_error,
    .clock_ns = clock_ns,
    .timer_new = timer_new,
    .timer_free = timer_free,
    .timer_mod = timer_mod,
    .register_poll_fd = nothing_fd,
    .unregister_poll_fd = nothing_fd,
    .notify = nothing,
};

// A restricted network answers ARP, DHCP and the ports that are added to it. DHCP then names neither a router nor a
// DNS server. The addresses are those of QEMU's user-mode network, except that 10.0.2.2 is only the server.
static Slirp *create(uint16_t guest_port) {
  struct slirp_config config = {
      .version = 1,
      .restricted = 1,
      .ipv4 = true,
      .network.s_addr = htonl(0x0a000200),
      .mask.s_addr = htonl(0xffffff00),
      .host.s_addr = htonl(0x0a000201),
      .dhcp_start.s_addr = htonl(0x0a00020f),
      .name_server.s_addr = htonl(0x0a000203),
      .no_host_loopback = true,
  };
  struct in_addr server = {htonl(0x0a000202)};
  Slirp *slirp = library.create(&config, &callbacks, NULL);
  errno = 0;
  if (!slirp) fail("libslirp made no network");
  if (library.add_unix(slirp, "/" RELAY_SOCKET, &server, guest_port) < 0) fail("libslirp adds no port");
  return slirp;
}

static int add_poll(int fd, int events, void *opaque) {
  (void)opaque;
  if (card.count == card.room) {
    card.room += FEW;
    card.polled = realloc(card.polled, (size_t)card.room * sizeof *card.polled);
    errno = 0;
    if (!card.polled) fail("out of memory");
  }
  short wanted = 0;
  if (events & SLIRP_IN) wanted |= POLLIN;
  if (events & SLIRP_OUT) wanted |= POLLOUT;
  if (events & SLIRP_PRI) wanted |= POLLPRI;
  card.polled[card.count] = (struct pollfd){.fd = fd, .events = wanted};
  return card.count++;
}

static int events_of(int index, void *opaque) {
  (void)opaque;
  short seen = card.polled[index].revents;
  int events = 0;
  if (seen & POLLIN) events |= SLIRP_IN;
  if (seen & POLLOUT) events |= SLIRP_OUT;
  if (seen & POLLPRI) events |= SLIRP_PRI;
  if (seen & POLLERR) events |= SLIRP_ERR;
  if (seen & POLLHUP) events |= SLIRP_HUP;
  return events;
}

static void read_frames(void) {
  ssize_t count = recv(card.fd, card.in + card.held, BUFFER - card.held, MSG_DONTWAIT);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) end(); // the guest is off
  // QEMU leaves Nagle's algorithm on, and its small frames would wait for a delayed acknowledgement.
  int yes = 1;
  setsockopt(card.fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
  card.held += (size_t)count;
  size_t at = 0;
  while (card.held - at >= LENGTH) {
    uint32_t length;
    memcpy(&length, card.in + at, LENGTH);
    length = ntohl(length);
    if (length > LONGEST) end(); // not QEMU
    if (card.held - at < LENGTH + length) break;
    library.input(card.slirp, card.in + at + LENGTH, (int)length);
    at += LENGTH + length;
  }
  memmove(card.in, card.in + at, card.held - at);
  card.held -= at;
}

void run_stack(int fd, const char *relay_folder, uint16_t guest_port) {
  const char *obstacle = stack_obstacle();
  errno = 0;
  if (obstacle) fail("%s", obstacle);
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  card.fd = fd;
  card.slirp = create(guest_port);
  seal(relay_folder, fd);
  while (true) {
    uint32_t timeout = UINT32_MAX;
    card.count = 0;
    add_poll(fd, SLIRP_IN, NULL);
    library.fill(card.slirp, &timeout, add_poll, NULL);
    int ready = poll(card.polled, (nfds_t)card.count, timeout == UINT32_MAX ? -1 : (int)timeout);
    if (ready < 0 && errno != EINTR) end();
    short seen = card.polled[0].revents;
    library.poll(card.slirp, ready < 0, events_of, NULL);
    if (ready > 0 && seen) read_frames();
    flush();
  }
}
