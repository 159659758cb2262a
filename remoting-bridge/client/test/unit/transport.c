/* Addresses, transports, devices of guests, rails, and programs that are not Graft servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "graft_rpc.h"
#include "transport/connect.h"
#include "transport/ivshmem.h"
#include "transport/rails.h"
#include "transport/transport.h"
#include "transport/vchan.h"
#include "unit.h"

static void write_file(const char *folder, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) abort();
  fputs(text, file);
  fclose(file);
}

static void remove_file(const char *folder, const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (remove(path)) abort();
}

/* Devices of shared memory are found among others, and opened only if that is allowed. */
static void guest_memory(void) {
  char devices[] = "/tmp/graft-unit-XXXXXX", one[64], two[64], reason[400];
  uint64_t bytes;
  if (!mkdtemp(devices)) abort();
  CHECK(graft_ivshmem_open("/nonexistent", 0, &bytes, reason, sizeof reason) < 0 && strstr(reason, "no PCI device"));
  CHECK(graft_ivshmem_open(devices, 0, &bytes, reason, sizeof reason) < 0 && strstr(reason, "no PCI device"));
  snprintf(one, sizeof one, "%s/0000:00:01.0", devices);
  snprintf(two, sizeof two, "%s/0000:00:02.0", devices);
  if (mkdir(one, 0700) || mkdir(two, 0700)) abort();
  write_file(one, "vendor", "0x1af4\n");
  write_file(one, "device", "0x1000\n");
  write_file(two, "vendor", "0x1af4\n");
  write_file(two, "device", "0x1110\n");
  CHECK(graft_ivshmem_open(devices, 0, &bytes, reason, sizeof reason) < 0 && strstr(reason, "0000:00:02.0"));
  write_file(two, "resource2", "12345678");
  int fd = graft_ivshmem_open(devices, 0, &bytes, reason, sizeof reason);
  CHECK(fd >= 0 && bytes == 8);
  close(fd);
  CHECK(graft_ivshmem_open(devices, 1, &bytes, reason, sizeof reason) < 0 && strstr(reason, "no other"));
  remove_file(two, "resource2");
  for (int i = 0; i < 2; i++) {
    remove_file(i ? two : one, "vendor");
    remove_file(i ? two : one, "device");
    if (rmdir(i ? two : one)) abort();
  }
  if (rmdir(devices)) abort();
}

/* The devices of a list of ports; NULL with a reason. */
static const char *ports_of(const char *folder, const char *list, char reason[400]) {
  static char devices[64];
  *reason = 0;
  return graft_rails(folder, list, devices, sizeof devices, reason, 400) ? devices : NULL;
}

static bool are(const char *found, const char *expected) { return found && !strcmp(found, expected); }

/* Receives this message from a server. Returns "shares", or the reason why no memory is shared. */
static const char *joined(const void *said, size_t bytes, const char *devices) {
  static char reason[200];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[1], said, bytes, 0) != (ssize_t)bytes) return "no socket";
  shutdown(ends[1], SHUT_WR);
  struct graft_grants grants = {.events = {.fd = -1}};
  bool shares = graft_grants_join((struct graft_wire){ends[0], NULL}, devices, &grants, reason, sizeof reason);
  CHECK(shares || !grants.rings);
  close(ends[0]);
  close(ends[1]);
  return shares ? "shares" : reason;
}

/* The part of granted pages that can be tested without Xen. */
static void granted_pages(void) {
  char devices[] = "/tmp/graft-unit-XXXXXX", reason[200];
  if (!mkdtemp(devices)) abort();
  CHECK(!graft_grants_present(devices, reason, sizeof reason) && strstr(reason, "/gntdev of a guest of Xen"));
  write_file(devices, "gntdev", "");
  CHECK(!graft_grants_present(devices, reason, sizeof reason) && strstr(reason, "/evtchn of a guest of Xen"));
  struct {
    uint32_t magic, status, domain, port, pages;
    char message[108];
    uint32_t list[GRAFT_GRANTED_PAGES];
  } said = {GRAFT_GRANTS_MAGIC, 1, 0, 1, GRAFT_GRANTED_PAGES, "no domain\tof that name", {0}};
  CHECK(!strcmp(joined(&said, 128, devices), "no domain of that name"));
  said.status = 0;
  CHECK(strstr(joined(&said, sizeof said, devices), "cannot map the server's pages"));
  CHECK(strstr(joined(&said, sizeof said - 1, devices), "does not say which pages"));
  CHECK(strstr(joined(&said, 127, devices), "does not say which pages"));
  said.pages = 1u << 30;
  CHECK(strstr(joined(&said, sizeof said, devices), "shares 1073741824 pages"));
  said.magic++;
  CHECK(strstr(joined(&said, sizeof said, devices), "says something else"));
  remove_file(devices, "gntdev");
  if (rmdir(devices)) abort();
}

/* Ports are found by GUID, MAC or name among other devices and ports, also several at once. A missing port is an error. */
static void rails(void) {
  char folder[] = "/tmp/graft-unit-XXXXXX", path[200], devices[12], reason[400] = "";
  static const char *const gids[][3] = {
      {"mlx5_0", "1", "fe80:0000:0000:0000:5254:00ff:feaa:0001\n"},
      {"mlx5_0", "2", "fe80:0000:0000:0000:5254:00ff:feaa:0002\n"},
      {"mlx5_1", "1", "fec0:0000:0000:0001:0000:0000:0000:0003\n"},
      {"rxe0", "1", "fe80:0000:0000:0000:0002:c9ff:fe00:00AB\n"},
      {"broken", "1", "what\n"},
  };
  static const char *const wrong[] = {
      "mlx5_0",
      ":1",
      "mlx5_0:",
      "mlx5_0:1:1",
      "0x3",
      "0x525400fffeaa000g",
      "0x0000000000000000",
      "52:54:00:aa:00",
      "52:54:00:aa:00:0g",
      "52-54-00-aa-00-01",
      "0x0000000000000003 what-has-far-more-letters-than-any-device-or-port-of-a-machine-can-have-in-its-name-here:1"};
  if (!mkdtemp(folder)) abort();
  CHECK(!ports_of("/nonexistent", "0x525400fffeaa0001", reason));
  CHECK(strstr(reason, "0x525400fffeaa0001") && strstr(reason, "/nonexistent has none"));
  for (int i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "mkdir -p %s/%s/ports/%s/gids", folder, gids[i][0], gids[i][1]);
    if (system(path)) abort();
    snprintf(path, sizeof path, "%s/%s/ports/%s/gids", folder, gids[i][0], gids[i][1]);
    write_file(path, "0", gids[i][2]);
  }
  CHECK(are(ports_of(folder, "0x525400fffeaa0002", reason), "mlx5_0:2"));
  CHECK(are(ports_of(folder, " 0x0000000000000003, 0x525400FFFEAA0001", reason), "mlx5_1:1,mlx5_0:1"));
  CHECK(are(ports_of(folder, "50:54:00:aa:00:02", reason), "mlx5_0:2"));
  CHECK(are(ports_of(folder, "02:02:C9:00:00:ab,mlx5_1:1", reason), "rxe0:1,mlx5_1:1"));
  CHECK(are(ports_of(folder, "", reason), "") && are(ports_of(folder, ", ", reason), ""));
  CHECK(!ports_of(folder, "0x0000000000000003 0x525400fffeaa0004", reason));
  CHECK(strstr(reason, "port 0x525400fffeaa0004") && strstr(reason, "others: ") && strstr(reason, "mlx5_1:1 (0x0000000000000003)"));
  CHECK(!ports_of(folder, "50:54:00:aa:00:04", reason) && strstr(reason, "port 50:54:00:aa:00:04"));
  CHECK(!ports_of(folder, "mlx5_0:3", reason) && strstr(reason, "port mlx5_0:3") && strstr(reason, "mlx5_0:2 ("));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(!ports_of(folder, wrong[i], reason) && strstr(reason, "is no port for rdma"));
  }
  CHECK(!graft_rails(folder, "mlx5_0:1 mlx5_0:2", devices, sizeof devices, reason, sizeof reason) && strstr(reason, "too many"));
  struct graft_config config;
  struct graft_session_key session;
  struct graft_connection connection;
  unsetenv("GRAFT_SERVER");
  setenv("GRAFT_RDMA_DEVICES", folder, 1);
  CHECK(config_from("server = rdma://127.0.0.1:1\nrdma-ports = 0x0000000000000009\n", &config, reason));
  CHECK(!graft_connect_best(&config, &session, &connection, reason, sizeof reason) && strstr(reason, "0x0000000000000009"));
  unsetenv("GRAFT_RDMA_DEVICES");
  snprintf(path, sizeof path, "rm -r %s", folder);
  if (system(path)) abort();
}

/* Every configured address is tried, and a reason is printed for each that fails. */
static void ways(void) {
  struct graft_config config;
  struct graft_session_key session;
  struct graft_connection connection;
  char reason[600] = "";
  unsetenv("GRAFT_SERVER");
  CHECK(config_from("pci-devices = /nonexistent\nserver = ivshmem://127.0.0.1:1, tcp://127.0.0.1:1 unix:///nonexistent\n", &config,
                    reason));
  CHECK(!graft_connect_best(&config, &session, &connection, reason, sizeof reason));
  CHECK(strstr(reason, "no PCI device") && strstr(reason, "tcp://127.0.0.1:1") && strstr(reason, "unix:///nonexistent"));
  CHECK(config_from("server = carrier-pigeon://roof\n", &config, reason));
  CHECK(!graft_connect_best(&config, &session, &connection, reason, sizeof reason) && strstr(reason, "must start with"));
  CHECK(config_from("server = vsock://two:7\n", &config, reason));
  CHECK(!graft_connect_best(&config, &session, &connection, reason, sizeof reason) && strstr(reason, "vsock://CID:PORT"));
}

/* Each transport has the operations that its capabilities require, so that no caller has to check for them. */
static void transports(void) {
  static const char *const addresses[] = {"tcp://h:1",     "unix:///s",           "vsock://2:1", "shm:///s",
                                          "ivshmem://h:1", "ivshmem+vsock://2:1", "rdma://h:1",  "vchan://h:1"};
  char reason[400];
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    const struct graft_transport *t = graft_transport_of(addresses[i], reason, sizeof reason);
    if (!t) abort();
    struct graft_connection connection = {.transport = t, .fd = -1};
    bool rings = graft_connection_can(&connection, GRAFT_TRANSPORT_RINGS);
    bool data = graft_connection_can(&connection, GRAFT_TRANSPORT_DATA_CONNECTIONS);
    CHECK(t->try && t->wait && t->tries);
    CHECK(rings ? t->requests != NULL : t->send && t->receive && t->before_sleep && t->sends_alone);
    CHECK(!data || (t->begin && t->is_over && t->work && t->largest_chunk && t->chunks_per_connection && t->least_connections));
    CHECK(!graft_connection_can(&connection, GRAFT_TRANSPORT_SHARED_MEMORY) || rings);
    CHECK(!rings || !data); /* bulk data of any size goes through the ring, or over data connections */
  }
  CHECK(!graft_transport_of("carrier-pigeon://roof", reason, sizeof reason));
  CHECK(strstr(reason,
               "must start with tcp://, unix://, vsock://, shm://, ivshmem://, ivshmem+vsock://, rdma:// or vchan://, not c"));
}

/* The reason why there is no session with a program that answers the greeting like this. */
static const char *why_not(const char *answer, size_t bytes) {
  static char reason[600];
  char folder[] = "/tmp/graft-unit-XXXXXX", text[200];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct graft_config config;
  struct graft_session_key session;
  struct graft_connection connection;
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (!mkdtemp(folder)) abort();
  snprintf(address.sun_path, sizeof address.sun_path, "%s/other", folder);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) abort();
  pid_t other = fork();
  if (!other) {
    char greeting[128];
    alarm(10);
    int fd = accept(listener, NULL, NULL);
    bool said = recv(fd, greeting, sizeof greeting, MSG_WAITALL) == sizeof greeting && send(fd, answer, bytes, 0) == (ssize_t)bytes;
    _exit(!said);
  }
  snprintf(text, sizeof text, "server = unix://%s\n", address.sun_path);
  CHECK(config_from(text, &config, reason) && !graft_connect_best(&config, &session, &connection, reason, sizeof reason));
  int status;
  CHECK(waitpid(other, &status, 0) == other && status == 0);
  close(listener);
  unlink(address.sun_path);
  rmdir(folder);
  return reason;
}

/* The answer of a program that is not a Graft server is shown if it is text, without control characters. */
static void other_servers(void) {
  char web[64] = "HTTP/1.1 400 Bad Request\r\n", shell[64] = "SSH-\r\n\33[2J\x7f\xc3\xa9", tls[64] = {21, 3, 1, 0, 2, 2, 70};
  unsetenv("GRAFT_SERVER");
  CHECK(strstr(why_not(web, sizeof web), "/other is not a Graft server: it answers \"HTTP/1.1 400 Bad Request\""));
  CHECK(strstr(why_not(shell, sizeof shell), "it answers \"SSH-   [2J   "));
  const char *reason = why_not(tls, sizeof tls);
  CHECK(strstr(reason, "/other is not a Graft server") && !strstr(reason, "answers"));
}

/* The server's end of a wait: the reason twice, a hostile text, one that comes too soon, and at last the refusal or nothing more. */
static int let_wait(int listener, bool refuses) {
  uint8_t hello[128], challenge[64] = {0}, proof[32], welcome[256] = {0};
  uint32_t magic = 0x54465247u, waiting = 10, busy = 5;
  uint64_t hash = GRAFT_API_HASH;
  uint16_t flags;
  int fd = accept(listener, NULL, NULL);
  if (recv(fd, hello, sizeof hello, MSG_WAITALL) != sizeof hello) return 1;
  memcpy(&flags, hello + 114, sizeof flags);
  if (!(flags & 4)) return 2;
  memcpy(challenge, &magic, 4);
  memcpy(challenge + 8, &hash, 8);
  if (send(fd, challenge, sizeof challenge, 0) != sizeof challenge) return 3;
  if (recv(fd, proof, sizeof proof, MSG_WAITALL) != sizeof proof) return 4;
  memcpy(welcome, &waiting, 4);
  strcpy((char *)welcome + 48, "it is full\33[2J: waiting");
  for (int i = 0; i < 1000; i++) {
    if (i == 2) memset(welcome + 48, 'x', 208); /* no end of the text */
    if (send(fd, welcome, sizeof welcome, 0) != sizeof welcome) return 5;
  }
  memcpy(welcome, &busy, 4);
  strcpy((char *)welcome + 48, "try later");
  if (refuses && send(fd, welcome, sizeof welcome, 0) != sizeof welcome) return 6;
  close(fd);
  return 0;
}

/* What the client prints while it waits for a place; the reason why it got none is left in `reason`. */
static void wait_for_place(bool refuses, char *printed, size_t size, char reason[600]) {
  char folder[] = "/tmp/graft-unit-XXXXXX", text[200], said[100];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct graft_config config;
  struct graft_session_key session;
  struct graft_connection connection;
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (!mkdtemp(folder)) abort();
  snprintf(address.sun_path, sizeof address.sun_path, "%s/other", folder);
  snprintf(said, sizeof said, "%s/said", folder);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) abort();
  pid_t other = fork();
  if (!other) {
    alarm(10);
    _exit(let_wait(listener, refuses));
  }
  snprintf(text, sizeof text, "server = unix://%s\n", address.sun_path);
  CHECK(config_from(text, &config, reason));
  int before = dup(2);
  if (before < 0 || !freopen(said, "w+", stderr)) abort();
  bool connected = graft_connect_best(&config, &session, &connection, reason, 600);
  fflush(stderr);
  rewind(stderr);
  printed[fread(printed, 1, size - 1, stderr)] = 0;
  if (dup2(before, 2) < 0) abort();
  close(before);
  CHECK(!connected);
  int status;
  CHECK(waitpid(other, &status, 0) == other && status == 0);
  close(listener);
  unlink(said);
  unlink(address.sun_path);
  rmdir(folder);
}

/* A client that waits for a place says so, in one line however often the server repeats it, and goes on waiting. */
static void waits(void) {
  char printed[2000], reason[600];
  unsetenv("GRAFT_SERVER");
  wait_for_place(true, printed, sizeof printed, reason);
  CHECK(strstr(printed, "it is full [2J: waiting"));
  CHECK(strchr(printed, '\n') && !strchr(printed, '\n')[1]);
  CHECK(strstr(reason, "refused") && strstr(reason, "try later"));
  wait_for_place(false, printed, sizeof printed, reason);
  CHECK(strstr(printed, "it is full") && strstr(reason, "closed the connection"));
}

void test_transport(void) {
  waits();
  ways();
  transports();
  other_servers();
  guest_memory();
  granted_pages();
  rails();
}
