#include "protocol.h"
#include <stdbool.h>
#include <string.h>

enum { MOST_INDEX = 9999 };

// A name is lower-case letters, digits and hyphens, followed by zeros alone.
static bool is_name(const char *name) {
  size_t length = strnlen(name, NAME_BYTES);
  if (length == 0 || length == NAME_BYTES) return false;
  for (size_t i = 0; i < length; i++) {
    if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') && name[i] != '-') return false;
  }
  for (size_t i = length; i < NAME_BYTES; i++) {
    if (name[i]) return false;
  }
  return true;
}

// The name of a domain: no space, no control character and no slash, since it is a line of a list.
static bool is_domain(const char *name) {
  size_t length = strnlen(name, NAME_BYTES);
  if (length == 0 || length == NAME_BYTES) return false;
  for (size_t i = 0; i < NAME_BYTES; i++) {
    unsigned char byte = (unsigned char)name[i];
    if (i < length ? byte <= ' ' || byte == 0x7F || byte == '/' : byte != 0) return false;
  }
  return true;
}

const char *wrong(const struct request *request, size_t bytes, int descriptors) {
  if (bytes != sizeof *request) return "a request of another size";
  if (request->magic != MAGIC) return "no request of this version";
  // What remains of the request after the fields that its type uses have been cleared must be zero.
  struct request rest = *request;
  rest.magic = rest.type = 0;
  switch (request->type) {
    case START:
      if (descriptors != DESCRIPTORS) return "START without two descriptors";
      if (request->index < -1 || request->index > MOST_INDEX) return "START with an index out of range";
      if (request->adapter > 1) return "START with an unknown flag";
      if (request->addresses > MOST_ADDRESSES) return "START with addresses out of range";
      if (request->connections > MOST_CONNECTIONS) return "START with connections out of range";
      if (!is_name(request->name)) return "START with a malformed kind of device";
      rest.index = 0;
      rest.adapter = 0;
      rest.addresses = 0;
      rest.connections = 0;
      memset(rest.name, 0, sizeof rest.name);
      break;
    case END: rest.worker = 0; break;
    case BOUND:
      rest.worker = rest.threads = rest.weight = 0;
      rest.memory = 0;
      break;
    case SHARE:
      if (request->guest == 0 || request->guest > MOST_GUEST) return "SHARE with a guest out of range";
      rest.worker = 0;
      rest.guest = 0;
      break;
    case GRANT:
      if (!is_domain(request->name)) return "GRANT with a malformed name";
      memset(rest.name, 0, sizeof rest.name);
      break;
    case READY: break;
    default: return "a request of an unknown type";
  }
  if (request->type != START && descriptors) return "a request with descriptors";
  static const struct request zero;
  if (memcmp(&rest, &zero, sizeof rest) != 0) return "a request with a field that its type does not use";
  return 0;
}
