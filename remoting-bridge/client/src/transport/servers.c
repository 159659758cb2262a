/* Connects to the first of the configured addresses that works. */
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/system.h"
#include "transport/connect.h"
#include "transport/transport.h"

/* Takes the next address of a list; false at its end. */
static bool next(const char **list, char *address, size_t size) {
  *list += strspn(*list, GRAFT_BETWEEN_SERVERS);
  size_t length = strcspn(*list, GRAFT_BETWEEN_SERVERS);
  snprintf(address, size, "%.*s", (int)length, *list);
  *list += length;
  return length;
}

bool graft_connect_best(struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                        char *reason, size_t size) {
  char failed[600] = "";
  size_t used = 0;
  const char *list = config->servers;
  while (next(&list, config->server, sizeof config->server)) {
    if (graft_connect_session(config, key, connection, reason, size)) {
      if (used) graft_say("uses %s, since %s", config->server, failed);
      return true;
    }
    int n = snprintf(failed + used, sizeof failed - used, "%s%s", used ? "; " : "", reason);
    used = used + (size_t)n < sizeof failed ? used + (size_t)n : sizeof failed - 1;
  }
  snprintf(reason, size, "%s", failed);
  return false;
}
