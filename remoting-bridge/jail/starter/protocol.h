// What a server and graft-starter say to each other, over a SOCK_SEQPACKET Unix socket. A request is one packet of
// exactly sizeof(struct request) bytes, an answer one packet of at least ANSWER_HEAD bytes. Numbers have the machine's
// byte order. graft.remoting.server.pool.StarterMessages is the server's side.
//
//   the server connects         -> HELLO   text: the parts of its workers' jail, lines as graft-jail --check prints
//   START (descriptors: the worker's end of its control socket, the writing end of its log's pipe)
//                               -> STARTED worker, pid; or REFUSED text
//   END worker                  -> DONE; the worker is killed
//   BOUND worker                -> DONE or REFUSED; lowers the worker's limits, or raises them again
//   SHARE worker                -> DONE or REFUSED; before the worker is handed to a guest, whose workers share a /dev/shm
//   GRANT name                  -> GRANTED (descriptors: of the pages, of the event channel) struct pages; or REFUSED
//   READY                       -> DONE; the server accepts clients
//   a worker's process ends     -> ENDED worker, status; at any time
//
// Each request has one answer, in the order of the requests; ENDED comes in between. A packet that is no request
// ends the connection, and the connection's end ends all workers.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MOST_GUEST ((uint64_t)INT64_MAX)
#define MOST_ADDRESSES 7    // graft.remoting.server.system.AddressRange
#define MOST_CONNECTIONS 32 // CUDA programming guide

// PAGES is the number of pages of a session over vchan (graft.remoting.server.transport.GrantedPages).
enum { MAGIC = 0x31545347 /* "GST1" */, NAME_BYTES = 64, TEXT_BYTES = 4096, PAGES = 513 };

enum request_type { START = 1, END = 2, BOUND = 3, READY = 4, SHARE = 5, GRANT = 6 };

enum answer_type { HELLO = 1, STARTED = 2, REFUSED = 3, ENDED = 4, DONE = 5, GRANTED = 6 };

struct request {
  uint32_t magic;
  uint32_t type;
  uint32_t worker;       // END, BOUND, SHARE: the number that STARTED gave
  int32_t index;         // START: of the GPU; -1 for none
  uint32_t adapter;      // START: 1 for a worker that uses an InfiniBand or RoCE adapter
  uint32_t threads;      // BOUND: 0 leaves the limit as it is
  uint32_t weight;       // BOUND: share of the CPUs, 1 to 100; 0 leaves it as it is
  uint32_t addresses;    // START: the range of addresses for device memory, 1 to MOST_ADDRESSES; 0 for any
  uint64_t memory;       // BOUND: bytes; 0 leaves the limit as it is
  uint64_t guest;        // SHARE: a number that the server gives the guest, from 1 to MOST_GUEST
  uint32_t connections;  // START: CUDA_DEVICE_MAX_CONNECTIONS, 1 to MOST_CONNECTIONS; 0 leaves it as it is
  uint32_t reserved[3];  // 0
  char name[NAME_BYTES]; // START: the kind of device; GRANT: the name of a Xen domain; ended by 0 and padded with 0
};

struct answer {
  uint32_t magic;
  uint32_t type;
  uint32_t worker;
  int32_t pid;
  int32_t status; // ENDED: as waitpid(2) gives it
  uint32_t length;
  char text[TEXT_BYTES]; // length bytes are sent
};

// What GRANTED has in place of a text.
struct pages {
  uint32_t self;              // the number of this domain
  uint32_t port;              // of the event channel
  uint64_t offset;            // of the pages in their descriptor
  uint32_t references[PAGES]; // by which the guest maps them
  uint32_t reserved;          // 0
};

enum { ANSWER_HEAD = offsetof(struct answer, text), DESCRIPTORS = 2 };

_Static_assert(sizeof(struct request) == 128, "a request has 128 bytes");
_Static_assert(sizeof(struct pages) <= TEXT_BYTES, "pages fit in an answer");

// Why these bytes are no request that a server may send; 0 if they are one. Every field that the type does not use has
// to be 0.
const char *wrong(const struct request *request, size_t bytes, int descriptors);
