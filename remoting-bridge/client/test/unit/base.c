/* Hashes and configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/crowd.h"
#include "base/crypto.h"
#include "unit.h"

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

bool config_from(const char *text, struct graft_config *config, char *reason) {
  char path[] = "/tmp/graft-client-test-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) abort();
  close(fd);
  setenv("GRAFT_CONFIG", path, 1);
  bool ok = graft_config_read(config, 0, reason, 400);
  unlink(path);
  return ok;
}

static bool config_of(int server, struct graft_config *config, char *reason) {
  return graft_config_read(config, server, reason, 400);
}

/* Lists of several servers. */
static void several_servers(void) {
  struct graft_config config;
  char reason[400] = "", many[300] = "tcp://h:1";
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("GRAFT_SERVER", "shm:///a tcp://h:1 ; tcp://i:2", 1);
  setenv("GRAFT_NAME", "one; two", 1);
  CHECK(config_of(0, &config, reason) && config.server_count == 2 && config.addresses == 1);
  CHECK(!strcmp(config.servers, "shm:///a tcp://h:1") && !strcmp(config.name, "one"));
  CHECK(config_of(1, &config, reason) && config.addresses == 2);
  CHECK(!strcmp(config.servers, "tcp://i:2") && !strcmp(config.name, "two"));
  setenv("GRAFT_NAME", "both", 1);
  CHECK(config_of(1, &config, reason) && !strcmp(config.name, "both"));
  setenv("GRAFT_NAME", "one; two; three", 1);
  CHECK(!config_of(0, &config, reason) && strstr(reason, "'name' has 3 items for 2 servers"));
  setenv("GRAFT_NAME", "both", 1);
  setenv("GRAFT_ADDRESSES", "any", 1);
  CHECK(config_of(1, &config, reason) && !config.addresses);
  setenv("GRAFT_ADDRESSES", "some", 1);
  CHECK(!config_of(1, &config, reason) && strstr(reason, "apart or any"));
  unsetenv("GRAFT_ADDRESSES");
  setenv("GRAFT_SERVER", "tcp://h:1;", 1);
  CHECK(!config_of(1, &config, reason) && strstr(reason, "no server"));
  for (int i = 0; i < GRAFT_MOST_SERVERS; i++) strcat(many, ";tcp://h:2");
  setenv("GRAFT_SERVER", many, 1);
  CHECK(!config_of(0, &config, reason) && strstr(reason, "lists 8 servers"));
  setenv("GRAFT_SERVER", "tcp://h:1", 1);
  CHECK(config_of(0, &config, reason) && config.server_count == 1 && !config.addresses);
  unsetenv("GRAFT_SERVER");
  unsetenv("GRAFT_NAME");
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
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && config.ktls);
  CHECK(config_from("server = tcp://h:1\nktls = no\n", &config, reason) && !config.ktls);
  setenv("GRAFT_KTLS", "auto", 1);
  CHECK(config_from("server = tcp://h:1\nktls = no\n", &config, reason) && config.ktls);
  setenv("GRAFT_KTLS", "yes", 1);
  CHECK(!config_from("server = tcp://h:1\n", &config, reason) && strstr(reason, "GRAFT_KTLS is 'yes': it can be auto or no"));
  unsetenv("GRAFT_KTLS");
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && config.known_data == GRAFT_KNOWN_DATA_AUTO);
  CHECK(config_from("server = tcp://h:1\nknown-data = yes\n", &config, reason) && config.known_data == GRAFT_KNOWN_DATA_YES);
  setenv("GRAFT_KNOWN_DATA", "no", 1);
  CHECK(config_from("server = tcp://h:1\nknown-data = yes\n", &config, reason) && config.known_data == GRAFT_KNOWN_DATA_NO);
  setenv("GRAFT_KNOWN_DATA", "maybe", 1);
  CHECK(!config_from("server = tcp://h:1\n", &config, reason) && strstr(reason, "auto, yes or no"));
  unsetenv("GRAFT_KNOWN_DATA");
  CHECK(config_from("server = tcp://h:1\n", &config, reason) && config.data_connections == -1);
  CHECK(config_from("server = tcp://h:1\ndata-connections = 3\n", &config, reason) && config.data_connections == 3);
  CHECK(config_from("server = tcp://h:1\nlanes = 2\n", &config, reason) && config.data_connections == 2);
  setenv("GRAFT_LANES", "4", 1);
  CHECK(config_from("server = tcp://h:1\nlanes = 2\n", &config, reason) && config.data_connections == 4);
  setenv("GRAFT_DATA_CONNECTIONS", "5", 1);
  CHECK(config_from("server = tcp://h:1\nlanes = 2\n", &config, reason) && config.data_connections == 5);
  unsetenv("GRAFT_LANES");
  unsetenv("GRAFT_DATA_CONNECTIONS");
  setenv("GRAFT_CONFIG", "/nonexistent", 1);
  CHECK(!graft_config_read(&config, 0, reason, sizeof reason) && strstr(reason, "GRAFT_CONFIG"));
}

/* When threads that wait stop polling. */
static void crowd(void) {
  struct graft_crowd crowd = {0};
  uint64_t now = 1000000000;
  CHECK(graft_crowd_runnable("1.50 2.00 13.25 17/512 4711\n") == 17);
  CHECK(graft_crowd_runnable("1,50 2,00 13,25 3/512 4711\n") == 3);
  const char *const others[] = {"", "\n", "1.50 2.00", "1.50 2.00 13.25 ", "a b c d", "1 2 3 -9/1", "1 2 3 99999999999999999999/1"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) CHECK(!graft_crowd_runnable(others[i]));
  crowd.looked = now; /* as if it had just been asked how many threads want to run */
  graft_crowd_yielded(&crowd, now - 100000, now);
  CHECK(!graft_crowd_seen(&crowd, now));
  graft_crowd_yielded(&crowd, now - 1000000, now);
  CHECK(graft_crowd_seen(&crowd, now));
  now += 90000000;
  crowd.looked = now;
  CHECK(graft_crowd_seen(&crowd, now));
  now += 20000000;
  crowd.looked = now;
  CHECK(!graft_crowd_seen(&crowd, now));
}

void test_base(void) {
  sha256();
  hmac_sha256();
  md2();
  configuration();
  several_servers();
  crowd();
}
