/* The transport of "vchan://": pages of the server's domain, which Xen lets this guest map, with one ring in each direction, and an event channel as doorbell. libxenvchan does the same, but exchanges grants through xenstore, which ordinary users of a guest must not write, since it also controls the guest's devices. Here the server sends them over its authenticated socket. */
#ifndef GRAFT_GRANTS_H
#define GRAFT_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/exchange.h"
#include "transport/ring.h"

#define GRAFT_GRANTS_MAGIC 0x58535247u /* "GRSX" */
#define GRAFT_GRANTED_RING_BYTES (1u << 20)
#define GRAFT_GRANTED_PAGE 4096u
#define GRAFT_GRANTED_PAGES (1 + 2 * GRAFT_GRANTED_RING_BYTES / GRAFT_GRANTED_PAGE)
#define GRAFT_GRANTED_REQUESTS 0u /* control of the rings, in the first page; then the data */
#define GRAFT_GRANTED_ANSWERS 2048u
#define GRAFT_GRANTED_REQUESTS_DATA GRAFT_GRANTED_PAGE
#define GRAFT_GRANTED_ANSWERS_DATA (GRAFT_GRANTED_REQUESTS_DATA + GRAFT_GRANTED_RING_BYTES)

/* The server's pages as this process has mapped them, and what wakes the server. */
struct graft_grants {
  uint8_t *rings;
  struct graft_events events;
};

/* Whether this is a guest of Xen that may map pages of other domains; devices is the folder of Xen's devices. */
bool graft_grants_present(const char *devices, char *reason, size_t size);
/* Receives the list of pages from the server, and maps them. */
bool graft_grants_join(struct graft_wire wire, const char *devices, struct graft_grants *grants, char *reason, size_t size);

#endif
