/* The transport of "vchan://": pages of the server's domain, which Xen lets this guest map, with a ring each way, and an
 * event channel as doorbell. What libxenvchan does, but the server says over its authenticated socket what libxenvchan
 * leaves in xenstore: whoever may use xenstore in a guest may take its devices away, so it is not for ordinary users. */
#ifndef GRAFT_GRANTS_H
#define GRAFT_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/ring.h"

#define GRAFT_GRANTS_MAGIC 0x58535247u /* "GRSX" */
#define GRAFT_GRANTED_RING_BYTES (1u << 20)
#define GRAFT_GRANTED_PAGE 4096u
#define GRAFT_GRANTED_PAGES (1 + 2 * GRAFT_GRANTED_RING_BYTES / GRAFT_GRANTED_PAGE)
#define GRAFT_GRANTED_REQUESTS 0u /* control of the rings, in the first page; then the data */
#define GRAFT_GRANTED_ANSWERS 2048u
#define GRAFT_GRANTED_REQUESTS_DATA GRAFT_GRANTED_PAGE
#define GRAFT_GRANTED_ANSWERS_DATA (GRAFT_GRANTED_REQUESTS_DATA + GRAFT_GRANTED_RING_BYTES)

/* The server's pages as this process has them, and what wakes the server. */
struct graft_grants {
  uint8_t *rings;
  struct graft_events events;
};

/* Whether this is a guest of Xen that may map others' pages; devices is the folder of Xen's. */
bool graft_grants_present(const char *devices, char *reason, size_t size);
/* Hears from the server which pages there are, and maps them. */
bool graft_grants_join(int fd, const char *devices, struct graft_grants *grants, char *reason, size_t size);

#endif
