/* Unit tests of the client's own parts, built with its sources under the sanitizers. Prints "N passed, N failed". */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/rpc.h"
#include "base/config.h"
#include "base/crypto.h"
#include "graft_rpc.h"
#include "memory/merge.h"
#include "memory/paging.h"
#include "memory/ranges.h"
#include "module/code.h"
#include "module/compute_cache.h"
#include "module/jit_cache.h"
#include "session/reads.h"
#include "transport/connect.h"
#include "transport/ivshmem.h"
#include "transport/rails.h"
#include "transport/transport.h"
#include "transport/vchan.h"

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

static void hex(const uint8_t *bytes, int count, char *out) {
  for (int i = 0; i < count; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
}

/* FIPS 180-2, appendix B; a million letters at once. */
static void sha256(void) {
  static uint8_t many[1000000];
  uint8_t out[32];
  char text[65];
  memset(many, 'a', sizeof many);
  graft_sha256("abc", 3, out);
  hex(out, 32, text);
  CHECK(!strcmp(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  graft_sha256(many, sizeof many, out);
  hex(out, 32, text);
  CHECK(!strcmp(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

/* RFC 4231, test cases 1, 2 and 6. */
static void hmac_sha256(void) {
  uint8_t key[131], out[32];
  char text[65];
  memset(key, 0x0b, 20);
  const void *one[] = {"Hi ", "There"};
  const size_t one_sizes[] = {3, 5};
  graft_hmac_sha256(key, 20, one, one_sizes, 2, out);
  hex(out, 32, text);
  CHECK(!strcmp(text, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
  const void *two[] = {"what do ya want for nothing?"};
  const size_t two_sizes[] = {28};
  graft_hmac_sha256((const uint8_t *)"Jefe", 4, two, two_sizes, 1, out);
  hex(out, 32, text);
  CHECK(!strcmp(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
  memset(key, 0xaa, 131);
  const void *six[] = {"Test Using Larger Than Block-Size Key - Hash Key First"};
  const size_t six_sizes[] = {54};
  graft_hmac_sha256(key, 131, six, six_sizes, 1, out);
  hex(out, 32, text);
  CHECK(!strcmp(text, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
}

/* RFC 1319, appendix A.5. */
static void md2(void) {
  static const struct {
    const char *text, *digest;
  } vectors[] = {{"", "8350e5a3e24c153df2275c9f80692773"},
                 {"a", "32ec01ec4a6dac72c0ab96fb34c0b5d1"},
                 {"abc", "da853b0d3f88d99b30283a69e6ded6bb"},
                 {"message digest", "ab4f496bfb2a530b219ff33031fe06b0"},
                 {"abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b"}};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    uint8_t out[16];
    char text[33];
    graft_md2((const uint8_t *)vectors[i].text, strlen(vectors[i].text), out);
    hex(out, 16, text);
    CHECK(!strcmp(text, vectors[i].digest));
  }
}

/* The ranges table: neighbours, ends, replacement, removal by kind. */
static void ranges(void) {
  struct graft_range found;
  graft_range_add(&(struct graft_range){.base = 1000, .bytes = 100, .memory = GRAFT_MEMORY_DEVICE});
  graft_range_add(&(struct graft_range){.base = 1100, .bytes = 50, .memory = GRAFT_MEMORY_PINNED});
  graft_range_add(&(struct graft_range){.base = 500, .bytes = 10, .memory = GRAFT_MEMORY_DEVICE});
  CHECK(!graft_range_find(999, &found));
  CHECK(graft_range_find(1000, &found) && found.bytes == 100);
  CHECK(graft_range_find(1099, &found) && found.base == 1000);
  CHECK(graft_range_find(1100, &found) && found.memory == GRAFT_MEMORY_PINNED);
  CHECK(!graft_range_find(1150, &found));
  CHECK(!graft_range_remove(1100, GRAFT_MEMORY_DEVICE, NULL));
  CHECK(graft_range_remove(1100, GRAFT_MEMORY_PINNED, &found) && found.bytes == 50);
  CHECK(!graft_range_find(1100, &found));
  for (uint64_t i = 0; i < 1000; i++) {
    graft_range_add(&(struct graft_range){.base = 10000 + 16 * ((i * 7919) % 1000), .bytes = 16, .memory = GRAFT_MEMORY_DEVICE});
  }
  bool all = true;
  for (uint64_t i = 0; i < 16000; i++) all = all && graft_range_find(10000 + i, &found) && found.base == 10000 + i / 16 * 16;
  CHECK(all);
}

/* At random, beside what a look at all of them says. */
static void reads(void) {
  static struct graft_read all[64];
  static struct graft_reads list;
  static uint8_t memory[256];
  bool there[64] = {false}, same = true;
  size_t count = 0;
  uint32_t random = 1;
  for (int step = 0; step < 20000; step++) {
    random = random * 1664525u + 1013904223u;
    int i = random >> 26, but = random >> 20 & 63;
    if (there[i]) {
      graft_reads_remove(&list, &all[i]);
      count--;
    } else {
      /* Two of each identity would never be there: 1024 apart they share a bucket. */
      all[i] = (struct graft_read){.identity = (uint64_t)i << 10, .to = memory + (random >> 12 & 127), .bytes = random >> 8 & 15};
      graft_reads_add(&list, &all[i]);
      count++;
    }
    there[i] = !there[i];
    const uint8_t *from = there[but] ? all[but].to : memory + (random >> 4 & 127);
    size_t bytes = there[but] ? all[but].bytes : 1 + (random & 15);
    bool any = false, other = false;
    for (int n = 0; n < 64; n++) {
      bool meets = there[n] && all[n].to < from + bytes && from < all[n].to + all[n].bytes;
      any = any || meets;
      other = other || (meets && n != but);
      same = same && (graft_reads_find(&list, (uint64_t)n << 10) == &all[n]) == there[n];
    }
    same = same && graft_reads_count(&list) == count && (!bytes || graft_reads_meet(&list, NULL, from, bytes) == any);
    if (there[but] && bytes) same = same && graft_reads_meet(&list, &all[but], from, bytes) == other;
    if (!same) break;
  }
  CHECK(same);
  for (int i = 0; i < 64; i++) {
    if (there[i]) graft_reads_remove(&list, &all[i]);
  }
  CHECK(!graft_reads_count(&list) && !graft_reads_meet(&list, NULL, memory, sizeof memory));
}

static void put32(uint8_t *p, uint32_t value) { memcpy(p, &value, 4); }
static void put64(uint8_t *p, uint64_t value) { memcpy(p, &value, 8); }

static void images(void) {
  uint8_t fatbin[64] = {0};
  put32(fatbin, 0xBA55ED50u);
  fatbin[4] = 1;
  fatbin[6] = 16;
  put64(fatbin + 8, 48);
  CHECK(graft_image_size(fatbin) == 64);
  struct {
    uint32_t magic, version;
    const void *data;
    const void *unused;
  } wrapper = {0x466243B1u, 1, fatbin, NULL};
  CHECK(graft_image_unwrap(&wrapper) == fatbin);
  CHECK(graft_image_unwrap(fatbin) == fatbin);
  CHECK(graft_image_size(".version 8.0\n") == 14);
  CHECK(graft_image_size("nonsense") == 0);
}

/* Pages that are taken: the program's own changes travel with them, and who touches one gets what is put there. */
static struct {
  uint8_t *memory;
  uint8_t page[4096];
  int asked, waited;
} paged;

static bool paged_at_once(uint64_t address, pid_t thread) {
  if (thread == gettid() || address < (uintptr_t)paged.memory || address >= (uintptr_t)paged.memory + 8192) abort();
  __atomic_add_fetch(&paged.asked, 1, __ATOMIC_SEQ_CST);
  if (address >= (uintptr_t)paged.memory + 4096) return false;
  graft_paging_put(paged.memory, paged.page, 4096);
  return true;
}

static void paged_touched(uint64_t address) {
  __atomic_add_fetch(&paged.waited, 1, __ATOMIC_SEQ_CST);
  graft_paging_put((void *)(uintptr_t)(address / 4096 * 4096), paged.page, 4096);
}

static void paging(void) {
  paged.memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(paged.page, 9, sizeof paged.page);
  if (!graft_paging_start(paged_at_once, paged_touched)) return; /* a line has said why */
  paged.memory[0] = 1;
  paged.memory[5000] = 2;
  CHECK(graft_paging_watch(paged.memory, 8192));
  CHECK(paged.memory[0] == 1 && !__atomic_load_n(&paged.asked, __ATOMIC_SEQ_CST));
  uint8_t *taken = graft_paging_take(paged.memory, 8192);
  CHECK(taken && taken[0] == 1 && taken[5000] == 2);
  if (!taken) return;
  munmap(taken, 8192);
  CHECK(paged.memory[7] == 9 && __atomic_load_n(&paged.asked, __ATOMIC_SEQ_CST) == 1);
  CHECK(paged.memory[5000] == 9 && __atomic_load_n(&paged.waited, __ATOMIC_SEQ_CST) == 1);
  paged.memory[5000] = 3;
  graft_paging_put(paged.memory, paged.page, 4096); /* what is there stays */
  taken = graft_paging_take(paged.memory, 8192);
  CHECK(taken && taken[7] == 9 && taken[5000] == 3);
  munmap(taken, 8192);
  munmap(paged.memory, 8192);
}

static bool config_from(const char *text, struct graft_config *config, char *reason) {
  char path[] = "/tmp/graft-client-test-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) abort();
  close(fd);
  setenv("GRAFT_CONFIG", path, 1);
  bool ok = graft_config_read(config, reason, 400);
  unlink(path);
  return ok;
}

static void configuration(void) {
  struct graft_config config;
  char reason[400] = "";
  unsetenv("GRAFT_SERVER");
  unsetenv("GRAFT_NAME");
  unsetenv("GRAFT_TOKEN_FILE");
  CHECK(config_from("# comment\n server = tcp://10.0.2.2:7799 \nname=g1\n", &config, reason));
  CHECK(!strcmp(config.servers, "tcp://10.0.2.2:7799") && !strcmp(config.name, "g1") && !config.has_token);
  CHECK(!config_from("name = g1\n", &config, reason) && strstr(reason, "no server"));
  CHECK(!config_from("server = tcp://h:1\ntoken-file = /nonexistent\n", &config, reason) && strstr(reason, "/nonexistent"));
  setenv("GRAFT_SERVER", "unix:///x", 1);
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && !strcmp(config.servers, "unix:///x"));
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && !config.managed_exclusive);
  CHECK(config_from("server = tcp://h:1\nmanaged = exclusive\n", &config, reason) && config.managed_exclusive);
  CHECK(!config_from("server = tcp://h:1\nmanaged = some\n", &config, reason) && strstr(reason, "shared or exclusive"));
  setenv("GRAFT_CONFIG", "/nonexistent", 1);
  CHECK(!graft_config_read(&config, reason, sizeof reason) && strstr(reason, "GRAFT_CONFIG"));
}

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

/* Devices of shared memory are found among others, and opened only where that is allowed. */
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

/* What a list of ports becomes; NULL with a reason. */
static const char *ports_of(const char *folder, const char *list, char reason[400]) {
  static char devices[64];
  *reason = 0;
  return graft_rails(folder, list, devices, sizeof devices, reason, 400) ? devices : NULL;
}

static bool are(const char *found, const char *expected) { return found && !strcmp(found, expected); }

/* Hears this from a server; why nothing is shared then. */
static const char *joined(const void *said, size_t bytes, const char *devices) {
  static char reason[200];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[1], said, bytes, 0) != (ssize_t)bytes) return "no socket";
  shutdown(ends[1], SHUT_WR);
  struct graft_grants grants = {.events = {.fd = -1}};
  bool shares = graft_grants_join(ends[0], devices, &grants, reason, sizeof reason);
  CHECK(shares || !grants.rings);
  close(ends[0]);
  close(ends[1]);
  return shares ? "shares" : reason;
}

/* What can be seen without Xen. */
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

/* Ports are found by GUID, MAC or name among other devices and their ports, several at once; one that is not there is an error. */
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

/* Every way that is configured is tried, and each says why not. */
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

/* Each transport has the operations that its capabilities promise, so that no caller has to ask whether one is there. */
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
    CHECK(!rings || !data); /* bulk data of any size goes through the ring, or travels apart */
  }
  CHECK(!graft_transport_of("carrier-pigeon://roof", reason, sizeof reason));
  CHECK(strstr(reason,
               "must start with tcp://, unix://, vsock://, shm://, ivshmem://, ivshmem+vsock://, rdma:// or vchan://, not c"));
}

/* Why there is no session with what gives this answer to the greeting. */
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

/* What answers in a server's place is shown if that is text, and harms no terminal. */
static void other_servers(void) {
  char web[64] = "HTTP/1.1 400 Bad Request\r\n", shell[64] = "SSH-\r\n\33[2J\x7f\xc3\xa9", tls[64] = {21, 3, 1, 0, 2, 2, 70};
  unsetenv("GRAFT_SERVER");
  CHECK(strstr(why_not(web, sizeof web), "/other is not a Graft server: it answers \"HTTP/1.1 400 Bad Request\""));
  CHECK(strstr(why_not(shell, sizeof shell), "it answers \"SSH-   [2J   "));
  const char *reason = why_not(tls, sizeof tls);
  CHECK(strstr(reason, "/other is not a Graft server") && !strstr(reason, "answers"));
}

/* Names and versions as CUDA's own typedefs have them. */
static void procedures(void) {
  extern int cuGetProcAddress_v2(const char *, void *, int, uint64_t, void *);
  extern int cuGetProcAddress(const char *, void *, int, uint64_t);
  void *found, *other;
  int status;
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status) == 0 && found == (void *)cuMemAlloc_v2 && status == 0);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 2000, 0, &status) == 0 && found && found != (void *)cuMemAlloc_v2);
  CHECK(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &found, 12030, 0, &status) == 0 &&
        found == (void *)cuStreamGetCaptureInfo_v3);
  CHECK(cuGetProcAddress_v2("cuCtxSynchronize", &found, 12090, 0, &status) == 0 && found == (void *)cuCtxSynchronize);
  CHECK(cuGetProcAddress_v2("cuNoSuchThing", &found, 13000, 0, &status) == 0 && !found && status == 1);
  CHECK(cuGetProcAddress_v2("cuKernelGetFunction", &found, 11000, 0, &status) == 0 && !found && status == 2);
  CHECK(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0) == 500);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 13000, 0, &status) == 0 && found == (void *)cuGetProcAddress_v2);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 11030, 0, &status) == 0 && found == (void *)cuGetProcAddress);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 2, &status) == 0);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &other, 12000, 0, &status) == 0 && other != found);
}

/* Without a server every way in fails with an error and none crashes. */
static void no_server(void) {
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("GRAFT_SERVER", "tcp://127.0.0.1:1", 1);
  int value;
  uint64_t pointer;
  CHECK(cuMemAlloc_v2(&pointer, 16) == GRAFT_NOT_INITIALIZED);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuDeviceGetCount(&value) == GRAFT_NOT_INITIALIZED);
  CHECK(cuMemFree_v2(4096) == GRAFT_NOT_INITIALIZED);
  CHECK(cuCtxSynchronize() == GRAFT_NOT_INITIALIZED);
  CHECK(cuDriverGetVersion(&value) == 0 && value == 13000);
}

/* What changed is told apart byte by byte, and its neighbours stay as they are. */
static void merging(void) {
  _Alignas(8) uint8_t now[40], before[40], target[40], mask[5];
  size_t first = 99;
  memset(before, 7, sizeof before);
  memcpy(now, before, sizeof now);
  CHECK(!graft_merge_mask(now, before, sizeof now, mask, &first) && !mask[0] && !mask[4]);
  now[9] = 1;
  now[15] = 2;
  memset(now + 24, 3, 8);
  CHECK(graft_merge_mask(now, before, sizeof now, mask, &first) == 4 && first == 1);
  CHECK(!mask[0] && mask[1] == 0x82 && !mask[2] && mask[3] == 0xff && !mask[4]);
  memset(target, 50, sizeof target);
  graft_merge(target, now, mask, 5);
  CHECK(target[8] == 50 && target[9] == 1 && target[14] == 50 && target[15] == 2 && target[24] == 3 && target[31] == 3 &&
        target[32] == 50);
  /* The last word may be cut. */
  CHECK(!graft_merge_mask(now, before, 9, mask, &first));
  CHECK(graft_merge_mask(now, before, 10, mask, &first) == 2 && mask[1] == 2);
  /* Theirs that ours has not changed as well. */
  uint8_t theirs[40], ours[40];
  size_t at = 0;
  memcpy(theirs, before, sizeof theirs);
  memcpy(ours, before, sizeof ours);
  CHECK(!graft_merge_run(theirs, ours, before, sizeof ours, &at));
  memset(theirs + 5, 9, 10);
  ours[8] = 1;
  at = 0;
  CHECK(graft_merge_run(theirs, ours, before, sizeof ours, &at) == 3 && at == 5);
  at += 3;
  CHECK(graft_merge_run(theirs, ours, before, sizeof ours, &at) == 6 && at == 9);
  at += 6;
  CHECK(!graft_merge_run(theirs, ours, before, sizeof ours, &at));
}

/* Nothing of an entry, or all that was written. */
static bool cached(const char *input, const char *options, const char *wanted) {
  void *entry, *data = NULL;
  uint32_t bytes = 0;
  CHECK(!graft_cache_open(&entry, 2, input, strlen(input), options, "HOST64", "today", 90));
  int r = graft_cache_load(entry, 0, &data, &bytes);
  bool as_wanted = wanted ? !r && bytes == strlen(wanted) && !memcmp(data, wanted, bytes) : r == GRAFT_NOT_FOUND;
  if (!r) graft_cache_release(data);
  graft_cache_close(entry);
  return as_wanted;
}

static void store(const char *input, const char *options, const char *data) {
  void *entry;
  CHECK(!graft_cache_open(&entry, 2, input, strlen(input), options, "HOST64", "today", 90));
  CHECK(!graft_cache_store(entry, 0, data, strlen(data)));
  graft_cache_close(entry);
}

/* Calls back with each file; how many there are. */
static int each_file(const char *folder, void (*call)(const char *path)) {
  char path[600];
  int count = 0;
  DIR *listing = opendir(folder);
  for (struct dirent *d; listing && (d = readdir(listing));) {
    if (d->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    if (call) call(path);
    count++;
  }
  if (listing) closedir(listing);
  return count;
}
static void spoil(const char *path) {
  FILE *file = fopen(path, "r+");
  fseek(file, -1, SEEK_END);
  fputc('!', file);
  fclose(file);
}
static void cut(const char *path) { CHECK(!truncate(path, 20)); }
static void delete (const char *path) { unlink(path); }
static void is_private(const char *path) {
  struct stat status;
  CHECK(!stat(path, &status) && (status.st_mode & 0777) == 0600);
}

static void compute_cache(void) {
  char folder[] = "/tmp/graft-cache-XXXXXX", files[64], inner[80];
  CHECK(mkdtemp(folder));
  snprintf(inner, sizeof inner, "%s/a/b", folder);
  snprintf(files, sizeof files, "%s/a/b/graft", folder);
  setenv("CUDA_CACHE_PATH", inner, 1);
  CHECK(cached("source", "-O3", NULL));
  store("source", "-O3", "binary");
  CHECK(cached("source", "-O3", "binary"));
  CHECK(cached("source", "-O2", NULL) && cached("sourc", "e-O3", NULL));
  store("source", "-O3", "another binary");
  CHECK(cached("source", "-O3", "another binary"));
  CHECK(each_file(files, is_private) == 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(cached("source", "-O3", NULL));
  store("more", "", "not kept");
  unsetenv("CUDA_CACHE_DISABLE");
  CHECK(each_file(files, spoil) == 1);
  CHECK(cached("source", "-O3", NULL));
  store("source", "-O3", "binary");
  each_file(files, cut);
  CHECK(cached("source", "-O3", NULL));
  /* The oldest goes when it is full. */
  setenv("CUDA_CACHE_MAXSIZE", "170", 1);
  store("one", "", "0123456789012345678901234567890");
  store("two", "", "0123456789012345678901234567890");
  store("three", "", "0123456789012345678901234567890");
  CHECK(each_file(files, NULL) == 2 && cached("three", "", "0123456789012345678901234567890"));
  setenv("CUDA_CACHE_MAXSIZE", "0", 1);
  store("four", "", "binary");
  CHECK(cached("four", "", NULL));
  unsetenv("CUDA_CACHE_MAXSIZE");
  each_file(files, delete);
  rmdir(files);
  rmdir(inner);
  snprintf(inner, sizeof inner, "%s/a", folder);
  rmdir(inner);
  rmdir(folder);
  /* Where nothing can be kept compilers go on. */
  setenv("CUDA_CACHE_PATH", "/proc/none", 1);
  store("source", "", "binary");
  CHECK(cached("source", "", NULL));
  unsetenv("CUDA_CACHE_PATH");
}

/* ---- Code that the driver compiles ---- */

static const struct graft_jit_target h200 = {9, 0, "GPU", "580"};

/* A fat binary with one entry of each kind and architecture. */
static size_t fatbin(uint8_t *out, int count, const int (*entries)[2]) {
  memset(out, 0, 1024);
  const uint32_t magic = 0xBA55ED50u;
  uint64_t bytes = (uint64_t)count * 80;
  memcpy(out, &magic, 4);
  out[4] = 1, out[6] = 16;
  memcpy(out + 8, &bytes, 8);
  for (int i = 0; i < count; i++) {
    uint8_t *entry = out + 16 + 80 * i;
    entry[0] = (uint8_t)entries[i][0];
    entry[4] = 64;
    entry[8] = 16;
    entry[28] = (uint8_t)entries[i][1];
  }
  return 16 + bytes;
}

static int compiled;
static int compile_error;
static int compile(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code, size_t *size) {
  compiled++;
  if (compile_error) return compile_error;
  *code = malloc(bytes + 1);
  memset(*code, 'C', bytes + 1);
  ((char *)*code)[0] = (char)type;
  *size = bytes + 1;
  return 0;
}

/* Whether the image gives code, and how often it was compiled for it. */
static bool gives(const char *image, const uint64_t *words, unsigned used, const struct graft_jit_target *target, bool code,
                  int times) {
  size_t size = 0;
  compiled = 0;
  char *found = graft_jit_code(image, strlen(image) + 1, words, used, target, compile, &size);
  bool right = !!found == code && compiled == times && (!found || (size == strlen(image) + 2 && found[0] == 1 && found[1] == 'C'));
  free(found);
  return right;
}

static void jit_types(void) {
  uint8_t image[1024];
  CHECK(graft_jit_type("// PTX, version 8", 18, &h200) == 1);
  CHECK(graft_jit_type(".version", 9, &h200) == -1);
  CHECK(graft_jit_type("\177ELF............", 20, &h200) == -1);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 80}, {1, 80}}), &h200) == 2);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 90}, {1, 90}}), &h200) == -1);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 86}, {1, 80}}), &(struct graft_jit_target){8, 0, "", ""}) == 2);
  CHECK(graft_jit_type(image, fatbin(image, 2, (const int[][2]){{2, 80}, {1, 80}}), &(struct graft_jit_target){8, 6, "", ""}) ==
        -1);
  /* What is not as expected is the driver's to judge, and nothing behind it is read. */
  size_t bytes = fatbin(image, 2, (const int[][2]){{1, 80}, {1, 80}});
  uint8_t *exact = malloc(bytes);
  for (unsigned seed = 1; seed <= 20000; seed++) {
    unsigned state = seed;
    memcpy(exact, image, bytes);
    for (int i = 0; i < 8; i++) exact[4 + rand_r(&state) % (bytes - 4)] = (uint8_t)rand_r(&state);
    int type = graft_jit_type(exact, bytes, &h200);
    if (type != 2 && type != -1) CHECK(!"a type of its own");
  }
  free(exact);
}

static void jit_links(void) {
  struct graft_jit_key key, other;
  size_t size;
  graft_jit_key_start(&key, NULL, 0, &h200);
  graft_jit_key_add(&key, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&key) && !graft_jit_linked(&key, &size));
  graft_jit_inputs_keep(&key);
  CHECK(graft_jit_inputs_known(&key) && !graft_jit_linked(&key, &size));
  graft_jit_linked_keep(&key, "linked", 6);
  char *code = graft_jit_linked(&key, &size);
  CHECK(code && size == 6 && !memcmp(code, "linked", 6));
  free(code);
  const char *const names[] = {"a", "b", "a", "a"}, *const data[] = {"input", "input", "inpuT", "input"};
  const int types[] = {1, 1, 1, 2};
  for (int i = 0; i < 4; i++) {
    graft_jit_key_start(&other, NULL, 0, &h200);
    graft_jit_key_add(&other, types[i], names[i], data[i], 5);
    CHECK(graft_jit_inputs_known(&other) == (i == 0));
  }
  graft_jit_key_start(&other, (const uint64_t[]){7, 1}, 2, &h200);
  graft_jit_key_add(&other, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&other));
  graft_jit_key_add(&key, 1, "a", "input", 5);
  CHECK(!graft_jit_inputs_known(&key)); /* twice the same is something else */
}

static void jit_cache(void) {
  char folder[] = "/tmp/graft-cache-XXXXXX", files[64];
  CHECK(mkdtemp(folder));
  snprintf(files, sizeof files, "%s/graft", folder);
  setenv("CUDA_CACHE_PATH", folder, 1);
  const char *ptx = "// a program in PTX", *more = "// another program in PTX";
  CHECK(gives(ptx, NULL, 0, &h200, true, 1));
  CHECK(gives(ptx, NULL, 0, &h200, true, 0));
  CHECK(gives(more, NULL, 0, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 2}, 2, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 3}, 2, &h200, true, 1));
  CHECK(gives(ptx, (const uint64_t[]){7, 2}, 2, &h200, true, 0));
  CHECK(gives(ptx, (const uint64_t[]){1, 2}, 2, &h200, false, 0)); /* threads of a block: answered in the program's memory */
  CHECK(gives(ptx, NULL, 0, &(struct graft_jit_target){9, 0, "GPU", "590"}, true, 1));
  CHECK(gives(ptx, NULL, 0, &(struct graft_jit_target){8, 0, "GPU", "580"}, true, 1));
  CHECK(gives("an ELF, or something else", NULL, 0, &h200, false, 0));
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(gives(ptx, NULL, 0, &h200, false, 0));
  unsetenv("CUDA_CACHE_DISABLE");
  each_file(files, spoil);
  CHECK(gives(ptx, NULL, 0, &h200, true, 1));
  jit_links();
  compile_error = GRAFT_INVALID_VALUE;
  CHECK(gives("// not PTX after all", NULL, 0, &h200, false, 1));
  compile_error = GRAFT_NOT_SUPPORTED; /* the device compiles none: it is not asked again */
  CHECK(gives("// still not PTX, not at all", NULL, 0, &h200, false, 1));
  CHECK(gives("// still not PTX, not at all", NULL, 0, &h200, false, 0));
  each_file(files, delete);
  rmdir(files);
  rmdir(folder);
  unsetenv("CUDA_CACHE_PATH");
}

int main(void) {
  sha256();
  hmac_sha256();
  md2();
  ranges();
  reads();
  images();
  paging();
  configuration();
  ways();
  transports();
  other_servers();
  guest_memory();
  granted_pages();
  rails();
  procedures();
  merging();
  compute_cache();
  jit_types();
  jit_cache();
  no_server();
  printf("client-unit: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
