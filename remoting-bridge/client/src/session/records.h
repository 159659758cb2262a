/* The records of a session (remoting-bridge/api/README.md has the wire format). */
#ifndef GRAFT_RECORDS_H
#define GRAFT_RECORDS_H

#include <stdint.h>

#define GRAFT_MAX_RECORD (1u << 20)
/* Bulk data up to this size follows its record directly. */
#define GRAFT_SMALL_BULK (64u << 10)

enum {
  GRAFT_RECORD_REPLY = 1, /* the client waits for an answer */
  GRAFT_RECORD_BULK = 2,  /* bulk data belongs to the record */
  GRAFT_RECORD_APART = 4, /* the bulk data comes on data connections */
};

struct graft_record {
  uint32_t size;
  uint16_t function, flags;
  uint32_t slot, context;
};

struct graft_answer_head {
  uint32_t size;
  uint16_t kind, reserved;
  uint32_t slot;
  int32_t result;
};

enum {
  GRAFT_ANSWER_REPLY,
  GRAFT_ANSWER_DATA,
  GRAFT_ANSWER_CALLBACK,
  GRAFT_ANSWER_NOTICE,
  GRAFT_ANSWER_DATA_APART, /* data that comes on data connections */
  GRAFT_ANSWER_OUTPUT,
};

#endif
