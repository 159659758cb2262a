/* Records of TLS against another implementation's, OpenSSL's own, and against an end that has the key and sends what no end of a session sends. */
#include "transport/tls_record.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../openssl_end.h"
#include "transport/tls.h"
#include "unit.h"

/* Connects this implementation with OpenSSL's. */
static struct graft_tls *meet(struct other *o, bool other_serves, int *fd) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) abort();
  *fd = ends[0];
  struct graft_tls *tls = meet_openssl(o, other_serves, ends);
  CHECK(tls);
  if (!tls) abort();
  return tls;
}

static void part(struct graft_tls *tls, int fd, struct other *o) {
  graft_tls_close(tls);
  part_openssl(o);
  close(fd);
  close(o->fd);
}

/* To OpenSSL and back. */
static void exchange(struct graft_tls *tls, struct other *o) {
  uint8_t *data = malloc(BYTES);
  bool same = true;
  pthread_t thread;
  void *all;
  if (!data || pthread_create(&thread, NULL, write_other, o)) abort();
  ssize_t n = 1;
  for (size_t done = 0; done < BYTES && n > 0; done += (size_t)n) {
    size_t left = BYTES - done;
    n = graft_tls_receive(tls, data + done, left < 7000 ? left : 7000); /* of records of 16 KiB */
  }
  pthread_join(thread, &all);
  CHECK(n > 0 && all);
  for (size_t i = 0; i < BYTES; i++) same = same && data[i] == pattern(i);
  CHECK(same);
  if (pthread_create(&thread, NULL, read_other, o)) abort();
  bool sent = graft_tls_send(tls, data, 24, true) == 24 && graft_tls_send(tls, data + 24, BYTES - 24, false) == BYTES - 24;
  pthread_join(thread, &all);
  CHECK(sent && all);
  free(data);
}

static void openssl_understands(void) {
  for (int serves = 0; serves < 2; serves++) {
    struct other o;
    int fd;
    char byte;
    struct graft_tls *tls = meet(&o, serves, &fd);
    exchange(tls, &o);
    CHECK(openssl.key_update(o.ssl, 1)); /* sent with the next write; asks for a new key of this end, too */
    exchange(tls, &o);
    graft_tls_limit_key(tls, 3);
    exchange(tls, &o);
    CHECK(openssl.shutdown(o.ssl) >= 0);
    CHECK(graft_tls_receive(tls, &byte, 1) == 0 && graft_tls_receive(tls, &byte, 1) == 0);
    part(tls, fd, &o);
  }
}

/* ---- Records of an end that has the key ---- */

/* Sends a record as the other end. */
static void say(struct other *o, uint8_t type, const void *data, size_t bytes) {
  static uint8_t record[TLS_LARGEST + 64];
  CHECK(graft_tls_encrypt(&o->sends, type, data, bytes, record));
  CHECK(send(o->fd, record, bytes + TLS_ADDED, MSG_NOSIGNAL) == (ssize_t)(bytes + TLS_ADDED));
}

static void what_no_end_sends_ends_the_connection(void) {
  static const uint8_t large[TLS_RECORD + 1];
  static const struct {
    uint8_t type, bytes[12];
    size_t count;
    int times;
  } records[] = {
      {TLS_HANDSHAKE, {24, 0, 0, 1, 2}, 5, 1},                  /* KeyUpdate with an unknown request */
      {TLS_HANDSHAKE, {24, 0, 0, 1}, 4, 1},                     /* the first part of a KeyUpdate */
      {TLS_HANDSHAKE, {24, 0, 0, 2, 0, 0}, 6, 1},               /* a longer one */
      {TLS_HANDSHAKE, {24, 0, 0, 1, 0, 24, 0, 0, 1, 0}, 10, 1}, /* two in a record, of which the second would need the new key */
      {TLS_HANDSHAKE, {4, 0, 0, 0}, 4, 1},                      /* NewSessionTicket */
      {TLS_HANDSHAKE, {0}, 0, 1},                               /* no message */
      {TLS_ALERT, {2, 40}, 2, 1},                               /* an error of the other end's */
      {TLS_ALERT, {1}, 1, 1},                                   /* part of an alert */
      {20, {1}, 1, 1},                                          /* ChangeCipherSpec, encrypted */
      {0, {0}, 9, 1},                                           /* padding without a type */
      {0, {0}, 0, 1},                                           /* the same, empty */
      {99, {1, 2, 3}, 3, 1},                                    /* an unknown type */
      {TLS_DATA, {0}, 0, 100},                                  /* empty records without an end */
      {TLS_DATA, {0}, sizeof large, 1},                         /* more than a record may hold */
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    for (size_t want = 1; want < 20000; want += 19000) { /* taken in parts, and at once */
      struct other o;
      int fd;
      static uint8_t got[20000];
      struct graft_tls *tls = meet(&o, i % 2, &fd);
      bool is_large = records[i].count > sizeof records[i].bytes;
      for (int n = 0; n < records[i].times; n++) say(&o, records[i].type, is_large ? large : records[i].bytes, records[i].count);
      errno = 0;
      CHECK(graft_tls_receive(tls, got, want) == -1 && errno == EPROTO);
      say(&o, TLS_DATA, "late", 4);
      CHECK(graft_tls_receive(tls, got, want) == -1 && errno == EPROTO);
      part(tls, fd, &o);
    }
  }
}

static void keys_cannot_be_changed_without_an_end(void) {
  static const uint8_t update[] = {24, 0, 0, 1, 1};
  struct other o;
  int fd;
  char got[8];
  struct graft_tls *tls = meet(&o, false, &fd);
  for (int n = 0; n < 100; n++) {
    say(&o, TLS_HANDSHAKE, update, sizeof update);
    CHECK(graft_tls_key_update(&o.sends));
    if (n % 32 == 20) { /* as often as this with data between, it is allowed */
      say(&o, TLS_DATA, "data", 4);
      CHECK(n > 60 || (graft_tls_receive(tls, got, 4) == 4 && !memcmp(got, "data", 4)));
      if (n > 60) break;
    }
  }
  for (int n = 0; n < 33; n++) {
    say(&o, TLS_HANDSHAKE, update, sizeof update);
    CHECK(graft_tls_key_update(&o.sends));
  }
  CHECK(graft_tls_receive(tls, got, 4) == 4 && graft_tls_receive(tls, got, 4) == -1 && errno == EPROTO);
  part(tls, fd, &o);
}

static void padding_is_removed(void) {
  for (size_t want = 4; want < 20000; want += 19000) {
    static uint8_t got[20000], padded[TLS_RECORD + 200];
    struct other o;
    int fd;
    struct graft_tls *tls = meet(&o, true, &fd);
    memset(padded, 0, sizeof padded);
    memcpy(padded, "four", 4);
    padded[4] = TLS_DATA;
    say(&o, 0, padded, 100);
    CHECK(graft_tls_receive(tls, got, want) == 4 && !memcmp(got, "four", 4));
    memset(padded, 7, TLS_RECORD);
    padded[TLS_RECORD] = TLS_DATA;
    say(&o, 0, padded, sizeof padded); /* a full record with padding, which RFC 8446 allows up to here */
    size_t done = 0;
    for (ssize_t n; done < TLS_RECORD; done += (size_t)n) {
      if ((n = graft_tls_receive(tls, got, want)) <= 0) break;
    }
    CHECK(done == TLS_RECORD && got[0] == 7);
    part(tls, fd, &o);
  }
}

/* The client's first record with data in the trace of RFC 8448, section 3. */
static void a_record_is_that_of_the_standard(void) {
  static const uint8_t secret[TLS_SECRET] = {0x9e, 0x40, 0x64, 0x6c, 0xe7, 0x9a, 0x7f, 0x9d, 0xc0, 0x5a, 0xf8,
                                             0x88, 0x9b, 0xce, 0x65, 0x52, 0x87, 0x5a, 0xfa, 0x0b, 0x06, 0xdf,
                                             0x00, 0x87, 0xf7, 0x92, 0xeb, 0xb7, 0xc1, 0x75, 0x04, 0xa5};
  static const uint8_t expected[] = {0x17, 0x03, 0x03, 0x00, 0x43, 0xa2, 0x3f, 0x70, 0x54, 0xb6, 0x2c, 0x94, 0xd0, 0xaf, 0xfa,
                                     0xfe, 0x82, 0x28, 0xba, 0x55, 0xcb, 0xef, 0xac, 0xea, 0x42, 0xf9, 0x14, 0xaa, 0x66, 0xbc,
                                     0xab, 0x3f, 0x2b, 0x98, 0x19, 0xa8, 0xa5, 0xb4, 0x6b, 0x39, 0x5b, 0xd5, 0x4a, 0x9a, 0x20,
                                     0x44, 0x1e, 0x2b, 0x62, 0x97, 0x4e, 0x1f, 0x5a, 0x62, 0x92, 0xa2, 0x97, 0x70, 0x14, 0xbd,
                                     0x1e, 0x3d, 0xea, 0xe6, 0x3a, 0xee, 0xbb, 0x21, 0x69, 0x49, 0x15, 0xe4};
  struct graft_tls_key sends, receives;
  uint8_t data[50], record[sizeof data + TLS_ADDED], got[sizeof data], type;
  for (unsigned i = 0; i < sizeof data; i++) data[i] = (uint8_t)i;
  CHECK(graft_tls_key_open(&sends, lib, TLS_AES_128_GCM_SHA256, secret, true));
  CHECK(graft_tls_key_open(&receives, lib, TLS_AES_128_GCM_SHA256, secret, false));
  CHECK(graft_tls_encrypt(&sends, TLS_DATA, data, sizeof data, record) && !memcmp(record, expected, sizeof record));
  CHECK(graft_tls_measure(record, sizeof record) == sizeof record && graft_tls_measure(record, sizeof record - 1) == 0);
  CHECK(graft_tls_decrypt(&receives, expected, sizeof expected, got, &type) == sizeof data && type == TLS_DATA &&
        !memcmp(got, data, sizeof data));
  graft_tls_key_close(&sends);
  graft_tls_key_close(&receives);
}

/* ChaCha20-Poly1305, which OpenSSL's connections here choose only on machines without instructions for AES. */
static void the_other_suite(void) {
  static const uint8_t secret[TLS_SECRET] = {3, 2, 1};
  struct graft_tls_key sends, receives;
  uint8_t record[100 + TLS_ADDED], data[100] = {5, 6}, got[100], type;
  CHECK(graft_tls_key_open(&sends, lib, TLS_CHACHA20_POLY1305_SHA256, secret, true));
  CHECK(graft_tls_key_open(&receives, lib, TLS_CHACHA20_POLY1305_SHA256, secret, false));
  for (int i = 0; i < 3; i++) {
    CHECK(graft_tls_encrypt(&sends, TLS_DATA, data, sizeof data, record));
    CHECK(graft_tls_decrypt(&receives, record, sizeof record, got, &type) == 100 && !memcmp(got, data, 100));
    CHECK(graft_tls_key_update(&sends) && graft_tls_key_update(&receives));
  }
  CHECK(graft_tls_encrypt(&sends, TLS_DATA, data, sizeof data, record));
  record[20] ^= 1;
  CHECK(graft_tls_decrypt(&receives, record, sizeof record, got, &type) == -1);
  graft_tls_key_close(&sends);
  graft_tls_key_close(&receives);
}

void test_tls_records(void) {
  char reason[400];
  lib = graft_tls_present(reason, sizeof reason) ? graft_tls_library(reason, sizeof reason) : NULL;
  if (!lib || !find_openssl()) {
    printf("records of TLS are not tested: %s\n", lib ? "OpenSSL lacks a function" : reason);
    return;
  }
  a_record_is_that_of_the_standard();
  the_other_suite();
  openssl_understands();
  padding_is_removed();
  keys_cannot_be_changed_without_an_end();
  what_no_end_sends_ends_the_connection();
}
