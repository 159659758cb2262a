/* The program's buffers, which are filled with records one after another. */
#include <pthread.h>
#include <string.h>

#include "cupti.h"

typedef void (*request)(uint8_t **buffer, size_t *size, size_t *most);
typedef void (*completion)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Guards what follows, and is held while the program is asked for a buffer or gets one back, so that it gets each in its order. Recursive, since the program may
 * flush there. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static request ask;
static completion give;
static uint8_t *buffer;
static size_t size, used, most, count, dropped;

EXPORT int cuptiActivityRegisterCallbacks(request requested, completion completed) {
  if (!requested || !completed) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  ask = requested;
  give = completed;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

/* The caller holds the lock, as below. */
static bool have_buffer(void) {
  if (buffer || !ask) return buffer;
  uint8_t *given = NULL;
  size_t given_size = 0, given_most = 0;
  ask(&given, &given_size, &given_most);
  if (!given || (uintptr_t)given % 8) return false; /* the program wants no more records */
  buffer = given;
  size = given_size;
  most = given_most;
  used = count = 0;
  return true;
}

void complete_buffer(void) {
  pthread_mutex_lock(&lock);
  uint8_t *full = buffer;
  buffer = NULL;
  if (full && give) give(NULL, 0, full, size, used);
  pthread_mutex_unlock(&lock);
}

void want_buffer(void) {
  pthread_mutex_lock(&lock);
  have_buffer();
  pthread_mutex_unlock(&lock);
}

void append(const void *record, size_t bytes) {
  pthread_mutex_lock(&lock);
  if (buffer && (bytes > size - used || (most && count == most))) complete_buffer();
  if (have_buffer() && bytes <= size - used) {
    memcpy(buffer + used, record, bytes);
    used += bytes;
    count++;
  } else {
    dropped++;
  }
  pthread_mutex_unlock(&lock);
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *records) {
  if (!records) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  *records = dropped;
  dropped = 0;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static size_t bytes_of(uint32_t kind) {
  switch (kind) {
    case KIND_MEMCPY: return sizeof(struct memcpy_record);
    case KIND_MEMSET: return sizeof(struct memset_record);
    case KIND_KERNEL:
    case KIND_CONCURRENT_KERNEL: return sizeof(struct kernel_record);
    case KIND_DRIVER: return sizeof(struct api_record);
    case KIND_EXTERNAL_CORRELATION: return sizeof(struct external_record);
    default: return 0;
  }
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *records, size_t valid, uint8_t **record) {
  if (!records || !record) return INVALID_PARAMETER;
  size_t at = 0;
  if (*record) {
    uint32_t kind;
    memcpy(&kind, *record, sizeof kind);
    if (!bytes_of(kind)) return INVALID_KIND;
    at = (size_t)(*record - records) + bytes_of(kind);
  }
  if (at >= valid || valid - at < sizeof(struct external_record)) return MAX_LIMIT_REACHED; /* no record is smaller */
  *record = records + at;
  return SUCCESS;
}
