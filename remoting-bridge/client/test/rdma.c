/* The channel "rdma" between two processes, over the transport that UCX finds on this machine: data, and a peer that is hostile, has
 * another version, or is killed. Prints "N passed, N failed". */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "transport/exchange.h"
#include "transport/transport.h"
#include "transport/ucx.h"

static int passed, failed;

#define CHECK(condition)                                             \
  do {                                                               \
    if (condition) {                                                 \
      passed++;                                                      \
    } else {                                                         \
      failed++;                                                      \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

#define LARGEST (3u << 20)

struct end {
  int socket;
  pid_t peer;
};

/* Starts another process, which runs the named function with its end of a socket. It executes this program again, since a forked
 * child of a process that has used UCX cannot use UCX. */
static struct end other(const char *what) {
  int ends[2];
  char socket[12];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  snprintf(socket, sizeof socket, "%d", ends[1]);
  pid_t peer = fork();
  if (peer < 0) abort();
  if (!peer) {
    close(ends[0]);
    alarm(60);
    execl("/proc/self/exe", "rdma", what, socket, NULL);
    _exit(127);
  }
  close(ends[1]);
  return (struct end){ends[0], peer};
}

static int leave(struct end end) {
  int status = -1;
  close(end.socket);
  waitpid(end.peer, &status, 0);
  return status;
}

static struct graft_connection over_ucx(int socket) {
  char reason[400] = "";
  struct graft_connection connection = {
      .transport = &graft_ucx_transport, .fd = socket, .state = graft_ucx_open(socket, NULL, reason, sizeof reason)};
  if (!connection.state) printf("%s\n", reason);
  return connection;
}

static uint8_t pattern(size_t i, size_t bytes) { return (uint8_t)(i * 31 + (i >> 8) + bytes); }

/* Sends each message back, with its length before it, until the peer has closed the connection. */
static void echo(int socket) {
  struct graft_connection connection = over_ucx(socket);
  uint8_t *data = malloc(LARGEST);
  uint32_t bytes;
  while (connection.state && graft_connection_receive_all(&connection, &bytes, sizeof bytes)) {
    if (bytes > LARGEST || !graft_connection_receive_all(&connection, data, bytes)) _exit(1);
    graft_connection_send_all(&connection, &bytes, sizeof bytes, true);
    graft_connection_send_all(&connection, data, bytes, false);
  }
  graft_connection_close(&connection);
  free(data);
}

static void data(void) {
  struct end end = other("echo");
  struct graft_connection connection = over_ucx(end.socket);
  uint8_t *out = malloc(LARGEST), *in = malloc(LARGEST);
  CHECK(connection.state);
  uint32_t sizes[] = {1, 7, 1024, 1025, 65536, 1u << 20, (1u << 20) + 1, LARGEST};
  for (size_t s = 0; connection.state && s < sizeof sizes / sizeof *sizes; s++) {
    uint32_t bytes = sizes[s], back = 0;
    for (size_t i = 0; i < bytes; i++) out[i] = pattern(i, bytes);
    memset(in, 0, bytes);
    CHECK(graft_connection_send_all(&connection, &bytes, sizeof bytes, true) &&
          graft_connection_send_all(&connection, out, bytes, false));
    /* Receives in parts of other sizes than those that were sent. */
    CHECK(graft_connection_receive_all(&connection, &back, 3) &&
          graft_connection_receive_all(&connection, (uint8_t *)&back + 3, 1) && back == bytes);
    CHECK(graft_connection_receive_all(&connection, in, bytes / 3) &&
          graft_connection_receive_all(&connection, in + bytes / 3, bytes - bytes / 3));
    CHECK(!memcmp(in, out, bytes));
  }
  uint8_t none;
  CHECK(connection.state && graft_ucx_transport.try(&connection, &none, 1) < 0);
  if (connection.state) graft_ucx_close(connection.state);
  CHECK(leave(end) == 0);
  free(out);
  free(in);
}

#define GIVEN 5
#define GIVEN_BYTES ((2u << 20) + 5)

/* Sends the same message several times at once, each with its length before it. */
static void give(int socket) {
  struct graft_connection connection = over_ucx(socket);
  uint32_t bytes = GIVEN_BYTES;
  uint64_t mark = 0;
  uint8_t *data = malloc(bytes);
  for (size_t i = 0; i < bytes; i++) data[i] = pattern(i, bytes);
  for (int i = 0; connection.state && i < GIVEN; i++) {
    graft_ucx_begin(connection.state, &bytes, sizeof bytes);
    mark = graft_ucx_begin(connection.state, data, bytes);
  }
  while (connection.state && !graft_ucx_is_over(connection.state, mark) && graft_ucx_work(connection.state)) continue;
  graft_connection_receive_all(&connection, &bytes, 1); /* until the peer has gone */
  graft_connection_close(&connection);
  free(data);
}

/* Receives several messages at once, in parts of other sizes than those that were sent. */
static void take_several(void) {
  struct end end = other("give");
  struct graft_connection connection = over_ucx(end.socket);
  int64_t marks[GIVEN];
  uint8_t *in = calloc(GIVEN, GIVEN_BYTES);
  bool all = connection.state;
  for (int i = 0; all && i < GIVEN; i++) {
    uint8_t *to = in + (size_t)i * GIVEN_BYTES;
    uint32_t bytes;
    ssize_t n;
    while ((n = graft_ucx_try(connection.state, &bytes, sizeof bytes)) < 0 && errno == EAGAIN && all)
      all = graft_ucx_work_taking(connection.state);
    size_t first = i % 2 ? 1u << 20 : 4711;
    all = all && n == sizeof bytes && bytes == GIVEN_BYTES && graft_ucx_take(connection.state, to, first) >= 0;
    if (all) marks[i] = graft_ucx_take(connection.state, to + first, bytes - first);
    all = all && marks[i] >= 0;
  }
  CHECK(all);
  for (int i = 0; all && i < GIVEN; i++) {
    uint8_t *to = in + (size_t)i * GIVEN_BYTES;
    while (all && !graft_ucx_is_taken(connection.state, marks[i])) all = graft_ucx_work_taking(connection.state);
    for (size_t at = 0; all && at < GIVEN_BYTES; at++) all = to[at] == pattern(at, GIVEN_BYTES);
    CHECK(all);
  }
  if (connection.state) graft_ucx_close(connection.state);
  CHECK(leave(end) == 0);
  free(in);
}

/* Receives a part of a message and is killed. */
static void dies(int socket) {
  struct graft_connection connection = over_ucx(socket);
  uint8_t some[64];
  if (connection.state) graft_connection_receive_all(&connection, some, sizeof some);
  raise(SIGKILL);
}

static void killed(void) {
  enum { RECEIVES, SENDS, TAKES, ALL };
  uint8_t *much = calloc(1, LARGEST), one;
  for (int what = RECEIVES; what < ALL; what++) {
    struct end end = other("dies");
    struct graft_connection connection = over_ucx(end.socket);
    uint64_t start = graft_now();
    if (connection.state && what == SENDS) {
      bool all = true;
      for (int i = 0; all && i < 1000; i++) all = graft_connection_send_all(&connection, much, LARGEST, false);
      CHECK(!all);
    } else if (connection.state) {
      graft_connection_send_all(&connection, much, 64, false);
      CHECK(what == TAKES ? graft_ucx_take(connection.state, &one, 1) < 0 : !graft_connection_receive_all(&connection, &one, 1));
    }
    CHECK(connection.state && graft_now() - start < 10000000000u);
    if (connection.state) graft_ucx_close(connection.state);
    CHECK(WIFSIGNALED(leave(end)));
  }
  free(much);
}

/* Starts an end that sends this greeting (struct greeting). */
static struct end says(const uint32_t greeting[64]) {
  int ends[2];
  char more[64] = {0};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) abort();
  bool said = graft_exchange((struct graft_wire){ends[1], NULL}, greeting, 256, NULL, 0) &&
              graft_exchange((struct graft_wire){ends[1], NULL}, more, sizeof more, NULL, 0);
  if (!said || shutdown(ends[1], SHUT_WR)) abort();
  return (struct end){ends[0], ends[1]};
}

static void refused(uint32_t magic, uint32_t version, uint32_t status, uint32_t bytes, uint32_t major, uint32_t minor,
                    const char *message, const char *expected) {
  char reason[400] = "";
  uint32_t greeting[64] = {magic, version, status, bytes, major, minor};
  memcpy(&greeting[8], message, strlen(message));
  struct end end = says(greeting);
  CHECK(!graft_ucx_open(end.socket, NULL, reason, sizeof reason));
  CHECK(strstr(reason, expected));
  close(end.socket);
  close(end.peer);
}

static void hostile(void) {
  uint32_t magic = 0x58555247u;
  refused(0x12345678u, 1, 0, 64, 1, 0, "", "does not speak rdma");
  refused(magic, 2, 0, 64, 1, 0, "", "does not speak rdma");
  refused(magic, 1, 1, 0, 1, 0, "no\x1b[2Jdevice", "refuses rdma: no [2Jdevice");
  refused(magic, 1, 0, 64, 99, 0, "", "99.0 at the other end: rdma needs the same");
}

static void too_long(void) {
  struct end end = other("echo");
  /* A real end sends the right version. */
  uint32_t greeting[64], lengths[] = {0, (16u << 10) + 1, UINT32_MAX};
  CHECK(graft_exchange((struct graft_wire){end.socket, NULL}, NULL, 0, greeting, sizeof greeting));
  leave(end);
  for (int i = 0; i < 3; i++) refused(greeting[0], greeting[1], 0, lengths[i], greeting[4], greeting[5], "", "which cannot be");
}

/* Without a GPU, graft_ucx_use_gpu gives a reason, and UCX works as if the function had not been called. */
static void no_gpu(void) {
  char reason[400] = "", memory[64];
  CHECK(!graft_ucx_use_gpu(memory, sizeof memory, true, reason, sizeof reason));
  CHECK(strstr(reason, "is built without CUDA, or finds no GPU"));
  data();
  CHECK(!graft_ucx_use_gpu(memory, sizeof memory, true, reason, sizeof reason));
  CHECK(strstr(reason, "in use already"));
}

/* Checks the answer on other hardware, which a stand-in for libucp simulates (ucp.c). */
static void found(const char *program, const char *there, const char *how, const char *expected) {
  char command[512], answer[400] = "";
  snprintf(command, sizeof command, "env -u UCX_TLS LD_LIBRARY_PATH=%.*sucp %s STUB=%s %s %s",
           (int)(strrchr(program, '/') + 1 - program), program, strchr(there, 't') ? "UCX_TLS=tcp" : "", there, program, how);
  FILE *answers = popen(command, "r");
  CHECK(answers && fgets(answer, sizeof answer, answers) && !strcmp(answer, expected));
  if (strcmp(answer, expected)) printf("%s: %s\n", there, answer);
  if (answers) pclose(answers);
}

static void on_other_hardware(const char *program) {
  found(program, "-", "gpu", "UCX 1.13 here is built without CUDA, or finds no GPU");
  found(program, "ip", "gpu", "UCX 1.13 here is built without CUDA, or finds no GPU");
  found(program, "c", "gpu", "UCX finds no InfiniBand or RoCE adapter");
  found(program, "ci", "gpu", "UCX 1.13 cannot register the GPU's memory with its adapters; modprobe nvidia_peermem may help");
  found(program, "cipf", "gpu", "UCX 1.13 cannot register the GPU's memory with its adapters; modprobe nvidia_peermem may help");
  found(program, "cip", "gpu", "can");
  found(program, "cipt", "gpu", "UCX_TLS leaves out cuda_copy");
  found(program, "c", "anyhow", "can");
  found(program, "-", "anyhow", "UCX 1.13 here is built without CUDA, or finds no GPU");
  found(program, "g", "connect", "UCX cannot say where its devices are: the stub refuses");
  found(program, "d", "connect", "UCX cannot say where its devices are: the stub refuses ");
  found(program, "d", "connect4", "UCX cannot say where its devices are: the stub refuses lo");
  found(program, "d", "connect6", "UCX cannot say where its devices are: the stub refuses lo");
  found(program, "d", "adapters", "UCX cannot say where its devices are: the stub refuses mlx5_0:1,lo");
}

/* One end of a connection over TCP of this family within the machine. */
static int through_loopback(int family) {
  struct sockaddr_storage at = {.ss_family = (sa_family_t)family};
  socklen_t bytes = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  if (family == AF_INET)
    ((struct sockaddr_in *)&at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  else
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &((struct sockaddr_in6 *)&at)->sin6_addr);
  int listening = socket(family, SOCK_STREAM, 0), end = socket(family, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr *)&at, bytes) || listen(listening, 1) ||
      getsockname(listening, (struct sockaddr *)&at, &bytes) || connect(end, (struct sockaddr *)&at, bytes))
    abort();
  close(accept(listening, NULL, NULL));
  return end;
}

/* A folder of adapters with one port. */
static void make_adapter(char *folder) {
  char path[200];
  const char *const levels[] = {"", "/mlx5_0", "/mlx5_0/ports", "/mlx5_0/ports/1"};
  if (!mkdtemp(folder)) abort();
  for (int i = 1; i < 4; i++) {
    snprintf(path, sizeof path, "%s%s", folder, levels[i]);
    if (mkdir(path, 0700)) abort();
  }
}

static void remove_adapter(const char *folder) {
  char path[200];
  const char *const levels[] = {"/mlx5_0/ports/1", "/mlx5_0/ports", "/mlx5_0", ""};
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s%s", folder, levels[i]);
    rmdir(path);
  }
}

/* Connects as far as the stand-in for libucp lets it. */
static void reach(const char *how) {
  char reason[400] = "", folder[] = "/tmp/graft-rdma-XXXXXX";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  if (strcmp(how, "connect")) dup2(through_loopback(strstr(how, "6") ? AF_INET6 : AF_INET), ends[0]);
  close(ends[1]);
  bool has_adapter = !strcmp(how, "adapters");
  if (has_adapter) {
    make_adapter(folder);
    graft_ucx_use(folder, "");
  }
  fputs(graft_ucx_open(ends[0], NULL, reason, sizeof reason) ? "connected" : reason, stdout);
  if (has_adapter) remove_adapter(folder);
}

static void look_for_gpu(bool anyhow) {
  char reason[400] = "", memory[64];
  fputs(graft_ucx_use_gpu(memory, sizeof memory, anyhow, reason, sizeof reason) ? "can" : reason, stdout);
}

/* A message that must be received whole is refused if it is longer than the memory for it. */
static void longer_than_asked(void) {
  struct end end = other("echo");
  struct graft_connection connection = over_ucx(end.socket);
  uint32_t bytes = 64, back = 0;
  char out[64] = {0}, in[64];
  CHECK(connection.state && graft_connection_send_all(&connection, &bytes, sizeof bytes, true) &&
        graft_connection_send_all(&connection, out, bytes, false));
  CHECK(connection.state && graft_connection_receive_all(&connection, &back, sizeof back) && back == bytes);
  errno = 0;
  CHECK(connection.state && graft_ucx_take_gpu(connection.state, in, sizeof in - 1) < 0 && errno == EPROTO);
  if (connection.state) graft_ucx_close(connection.state);
  leave(end);
}

int main(int count, char **arguments) {
  if (count == 2) {
    if (!strcmp(arguments[1], "gpu") || !strcmp(arguments[1], "anyhow"))
      look_for_gpu(!strcmp(arguments[1], "anyhow"));
    else
      reach(arguments[1]);
    return 0;
  }
  if (count == 3) {
    const char *what = arguments[1];
    (!strcmp(what, "echo") ? echo : !strcmp(what, "give") ? give : dies)(atoi(arguments[2]));
    return 0;
  }
  on_other_hardware(arguments[0]);
  no_gpu();
  take_several();
  longer_than_asked();
  killed();
  hostile();
  too_long();
  printf("client-rdma: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
