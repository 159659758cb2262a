// The part of libslirp's interface that is used here, in the layout of version 1 of its configuration, which all
// versions from 4.2 on accept. The library is loaded by name, so that building needs no headers: every machine whose
// QEMU has user-mode networks has the library.
// https://gitlab.freedesktop.org/slirp/libslirp
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Slirp Slirp;

enum { SLIRP_IN = 1, SLIRP_OUT = 2, SLIRP_PRI = 4, SLIRP_ERR = 8, SLIRP_HUP = 16 };

struct slirp_callbacks {
  ssize_t (*send_packet)(const void *frame, size_t bytes, void *opaque);
  void (*guest_error)(const char *message, void *opaque);
  int64_t (*clock_ns)(void *opaque);
  void *(*timer_new)(void (*callback)(void *), void *callback_opaque, void *opaque);
  void (*timer_free)(void *timer, void *opaque);
  void (*timer_mod)(void *timer, int64_t expires_ms, void *opaque);
  void (*register_poll_fd)(int fd, void *opaque);
  void (*unregister_poll_fd)(int fd, void *opaque);
  void (*notify)(void *opaque);
};

struct slirp_config {
  uint32_t version;
  int restricted;
  bool ipv4;
  struct in_addr network, mask, host;
  bool ipv6;
  struct in6_addr prefix6;
  uint8_t prefix6_length;
  struct in6_addr host6;
  const char *host_name, *tftp_server, *tftp_path, *boot_file;
  struct in_addr dhcp_start, name_server;
  struct in6_addr name_server6;
  const char **dns_search, *domain;
  size_t mtu, mru;
  bool no_host_loopback, emulation;
};

struct slirp_library {
  Slirp *(*create)(const struct slirp_config *config, const struct slirp_callbacks *callbacks, void *opaque);
  int (*add_unix)(Slirp *slirp, const char *path, struct in_addr *guest_address, int guest_port);
  void (*input)(Slirp *slirp, const uint8_t *frame, int bytes);
  void (*fill)(Slirp *slirp, uint32_t *timeout_ms, int (*add)(int fd, int events, void *opaque), void *opaque);
  void (*poll)(Slirp *slirp, int failed, int (*events)(int index, void *opaque), void *opaque);
};
