#include "link.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../fake_server.h"

#define DEVICE "devices/0000:00:03.0"
#define DEVICE_BYTES (32ull << 20)
#define CONNECT_MILLISECONDS 20000

static void stop(const char *what) {
  perror(what);
  exit(1);
}

static void put_file(const struct listener *listener, const char *name, const char *text) {
  char path[100];
  snprintf(path, sizeof path, "%s/" DEVICE "/%s", listener->folder, name);
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) stop(path);
}

static void path_of(const struct listener *listener, const char *name, char *path, size_t size) {
  snprintf(path, size, "%s/%s", listener->folder, name);
}

void listener_open(struct listener *listener) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char path[100];
  snprintf(listener->folder, sizeof listener->folder, "/tmp/graft-hostile-XXXXXX");
  if (!mkdtemp(listener->folder)) stop("mkdtemp");
  listener->tcp = fake_listen(&listener->port);
  if (listener->tcp < 0) stop("listen");
  listener->unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
  path_of(listener, "s", address.sun_path, sizeof address.sun_path);
  if (bind(listener->unix_socket, (struct sockaddr *)&address, sizeof address) || listen(listener->unix_socket, 8))
    stop(address.sun_path);
  path_of(listener, "devices", path, sizeof path);
  if (mkdir(path, 0700)) stop(path);
  path_of(listener, DEVICE, path, sizeof path);
  if (mkdir(path, 0700)) stop(path);
  put_file(listener, "vendor", "0x1af4\n");
  put_file(listener, "device", "0x1110\n");
  put_file(listener, "resource2", "");
  path_of(listener, DEVICE "/resource2", path, sizeof path);
  if (truncate(path, (off_t)DEVICE_BYTES)) stop(path);
}

void listener_close(struct listener *listener) {
  static const char *const names[] = {DEVICE "/vendor", DEVICE "/device", DEVICE "/resource2", DEVICE, "devices", "s", ""};
  char path[100];
  close(listener->tcp);
  close(listener->unix_socket);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    path_of(listener, names[i], path, sizeof path);
    if (remove(path)) perror(path);
  }
}

void listener_settings(const struct listener *listener, enum channel channel) {
  char server[100], devices[100];
  switch (channel) {
    case TCP: snprintf(server, sizeof server, "tcp://127.0.0.1:%d", listener->port); break;
    case UNIX: snprintf(server, sizeof server, "unix://%s/s", listener->folder); break;
    case SHM: snprintf(server, sizeof server, "shm://%s/s", listener->folder); break;
    default: snprintf(server, sizeof server, "ivshmem://127.0.0.1:%d", listener->port); break;
  }
  path_of(listener, "devices", devices, sizeof devices);
  setenv("GRAFT_SERVER", server, 1);
  setenv("GRAFT_PCI_DEVICES", devices, 1);
}

/* Receives the client's memory. */
static int receive_descriptor(int fd) {
  uint8_t greeting[24];
  union {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {greeting, sizeof greeting};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  if (poll(&wait, 1, fake_milliseconds) <= 0 || recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != sizeof greeting) return -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  int memory = -1;
  if (c && c->cmsg_type == SCM_RIGHTS) memcpy(&memory, CMSG_DATA(c), sizeof memory);
  return memory;
}

/* Says which part of the device to use: in one case of two a part that cannot be, or that the client does not find. */
static bool assign(int fd, uint64_t offset, const uint8_t *mark, uint64_t (*draw)(uint64_t)) {
  uint8_t question[24], answer[128] = {0};
  if (!fake_get(fd, question, sizeof question)) return false;
  uint64_t bytes = DEVICE_BYTES;
  uint32_t status = 0;
  memcpy(answer + 24, mark, 16);
  switch (draw(14)) {
    case 0: offset = draw(1ull << 63); break;
    case 1: offset = DEVICE_BYTES - GRAFT_REGION_CONTROL + 4096; break;
    case 2: offset = 0 - 4096ull; break;
    case 3: bytes = 1ull << draw(64); break;
    case 4: offset += 1 + draw(4095); break;
    case 5: status = 1 + (uint32_t)draw(1u << 31); break;
    case 6: answer[24 + draw(16)] ^= 1; break;
    default: break;
  }
  memcpy(answer, &status, 4);
  memcpy(answer + 8, &bytes, 8);
  memcpy(answer + 16, &offset, 8);
  for (int i = 40; status && i < 128; i++) answer[i] = (uint8_t)draw(256);
  return fake_put(fd, answer, sizeof answer);
}

static bool open_rings(struct link *link, const struct listener *listener, enum channel channel, uint64_t (*draw)(uint64_t)) {
  uint64_t offset = channel == SHM ? 0 : 4096 * draw((DEVICE_BYTES - GRAFT_REGION_CONTROL) / 4096 + 1);
  char path[100];
  path_of(listener, DEVICE "/resource2", path, sizeof path);
  int file = channel == SHM ? receive_descriptor(link->fd) : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  uint8_t *memory = mmap(NULL, GRAFT_REGION_CONTROL, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
  close(file);
  if (memory == MAP_FAILED) return false;
  link->memory = memory;
  if (channel == IVSHMEM) {
    uint8_t mark[16];
    for (int i = 0; i < 16; i++) mark[i] = (uint8_t)draw(256);
    memset(memory, 0, GRAFT_ANSWERS + 4096);
    memcpy(memory, mark, sizeof mark);
    if (!assign(link->fd, offset, mark, draw)) return false;
  }
  graft_ring_open(&link->requests, memory + GRAFT_REQUESTS, memory + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
  graft_ring_open(&link->answers, memory + GRAFT_ANSWERS, memory + GRAFT_ANSWERS_DATA, GRAFT_RING_BYTES);
  return true;
}

bool link_accept(struct link *link, const struct listener *listener, enum channel channel, uint64_t (*draw)(uint64_t)) {
  struct pollfd wait = {.fd = channel == UNIX || channel == SHM ? listener->unix_socket : listener->tcp, .events = POLLIN};
  *link = (struct link){.fd = -1};
  if (poll(&wait, 1, CONNECT_MILLISECONDS) <= 0) return false; /* the client has ended, and its status says how */
  link->fd = accept(wait.fd, NULL, NULL);
  if (link->fd < 0 || !fake_handshake(link->fd)) return false;
  return channel == TCP || channel == UNIX || open_rings(link, listener, channel, draw);
}

static uint64_t next(uint64_t *state, uint64_t below) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state % below;
}

static void scribble(uint8_t *memory, uint64_t seed) {
  static const uint64_t nasty[] = {0,          1,          8,          GRAFT_RING_BYTES, GRAFT_RING_BYTES + 1,
                                   UINT32_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 7};
  struct graft_ring_control *requests = (struct graft_ring_control *)(memory + GRAFT_REQUESTS);
  struct graft_ring_control *answers = (struct graft_ring_control *)(memory + GRAFT_ANSWERS);
  uint64_t state = seed | 1, patience = next(&state, 3);
  for (;;) {
    uint64_t value = next(&state, 2) ? nasty[next(&state, sizeof nasty / sizeof *nasty)] : next(&state, UINT64_MAX);
    switch (next(&state, 16)) {
      case 0:
        if (patience) break;
        __atomic_store_n(&answers->head, next(&state, 2) ? value : answers->head + next(&state, 64), __ATOMIC_SEQ_CST);
        break;
      case 1:
        if (patience) break;
        __atomic_store_n(&requests->tail, next(&state, 2) ? value : requests->head - next(&state, 64), __ATOMIC_SEQ_CST);
        break;
      case 2: __atomic_store_n(&requests->head, value, __ATOMIC_SEQ_CST); break; /* the client alone writes these two */
      case 3: __atomic_store_n(&answers->tail, value, __ATOMIC_SEQ_CST); break;
      case 4: __atomic_store_n(&answers->asleep, (uint32_t)value, __ATOMIC_SEQ_CST); break;
      case 5: __atomic_store_n(&requests->asleep, (uint32_t)value, __ATOMIC_SEQ_CST); break;
      case 6: memory[next(&state, GRAFT_REQUESTS)] = (uint8_t)value; break;
      default: { /* where the next answers are read */
        uint64_t at = answers->head - next(&state, 96);
        memory[GRAFT_ANSWERS_DATA + at % GRAFT_RING_BYTES] = (uint8_t)(next(&state, 3) ? next(&state, 9) * 8 : value);
      }
    }
    struct timespec pause = {0, (long)(next(&state, 1 + 20000 * patience))};
    nanosleep(&pause, NULL);
  }
}

void link_scribble(struct link *link, uint64_t seed) {
  if (!link->memory) return;
  link->scribbler = fork();
  if (link->scribbler < 0) stop("fork");
  if (!link->scribbler) {
    close(link->fd); /* the client must see when the server goes */
    scribble(link->memory, seed);
  }
}

void link_close(struct link *link) {
  if (link->scribbler > 0) {
    kill(link->scribbler, SIGKILL);
    waitpid(link->scribbler, NULL, 0);
  }
  if (link->fd >= 0) close(link->fd);
  if (link->memory) munmap(link->memory, GRAFT_REGION_CONTROL);
}

/* Waits as long as the socket does. */
static bool ring_get(struct link *link, uint8_t *to, size_t bytes) {
  for (int waited = 0; bytes; waited++) {
    ssize_t n = graft_ring_read(&link->requests, to, bytes);
    if (n < 0 || waited > 10 * fake_milliseconds) return false;
    struct pollfd gone = {.fd = link->fd, .events = POLLRDHUP};
    if (!n && waited % 64 == 63 && poll(&gone, 1, 0) > 0) return false;
    if (!n) nanosleep(&(struct timespec){0, 50000}, NULL);
    if (n > 0) waited = 0;
    to += n;
    bytes -= (size_t)n;
  }
  return true;
}

bool link_get(struct link *link, void *to, size_t bytes) {
  return link->memory ? ring_get(link, to, bytes) : fake_get(link->fd, to, bytes);
}

bool link_put(struct link *link, const void *data, size_t bytes) {
  struct graft_bell bell = {link->fd, {.fd = -1}};
  return link->memory ? graft_ring_write(&link->answers, &bell, data, bytes) : fake_put(link->fd, data, bytes);
}
