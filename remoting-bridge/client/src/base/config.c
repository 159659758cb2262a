/* The client's configuration: a file of "key = value" lines, which the environment overrides. */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"

static char *trim(char *s) {
  while (isspace((unsigned char)*s)) s++;
  char *end = s + strlen(s);
  while (end > s && isspace((unsigned char)end[-1])) *--end = 0;
  return s;
}

static bool parse_token(const char *hex, uint8_t token[32]) {
  for (int i = 0; i < 64; i++) {
    const char *digits = "0123456789abcdef";
    const char *at = hex[i] ? strchr(digits, tolower((unsigned char)hex[i])) : NULL;
    if (!at) return false;
    uint8_t value = (uint8_t)(at - digits);
    token[i / 2] = i % 2 ? (uint8_t)(token[i / 2] | value) : (uint8_t)(value << 4);
  }
  return hex[64] == 0;
}

static bool read_token(const char *path, uint8_t token[32], char *reason, size_t size) {
  FILE *file = fopen(path, "re");
  if (!file) {
    const char *why = errno == EACCES ? "only root and the group that the descriptor names may read it" : strerror(errno);
    snprintf(reason, size, "token file %s: %s", path, why);
    return false;
  }
  char line[128] = "";
  char *got = fgets(line, sizeof line, file);
  fclose(file);
  bool ok = got && parse_token(trim(line), token);
  memset(line, 0, sizeof line);
  if (!ok) snprintf(reason, size, "token file %s does not hold 64 hexadecimal digits", path);
  return ok;
}

static bool parse_encryption(const char *text, enum graft_encryption *encryption) {
  static const char *const words[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, words[i])) continue;
    *encryption = (enum graft_encryption)i;
    return true;
  }
  return false;
}

#define LIST 4096 /* the longest value of a setting, for all servers */

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

/* Earlier names of settings still work. */
static void notice_renamed(const char *what, const char *now) { graft_say("the %s is now called %s", what, now); }

#define BETWEEN ';'

static int count_of(const char *list) {
  int count = 1;
  for (const char *at = list; (at = strchr(at, BETWEEN)); at++) count++;
  return count;
}

/* Copies the server's item of a list; a list of one item is for all servers. False if the list has another number of items than there are servers. */
static bool copy_item(char *to, size_t size, const char *list, int server, int servers) {
  int items = count_of(list);
  for (int i = 0; i < server && items > 1 && (list = strchr(list, BETWEEN)); i++) list++;
  if (!list || (items > 1 && items != servers)) return false;
  char item[LIST];
  snprintf(item, sizeof item, "%.*s", (int)strcspn(list, (char[]){BETWEEN, 0}), list);
  copy(to, size, trim(item));
  return true;
}

/* The settings that may be different for each server. */
struct lists {
  char servers[LIST], name[LIST], token_file[LIST], certificates[LIST];
};

/* Takes the server's items of the lists. False with a reason. */
static bool choose(struct graft_config *config, const struct lists *lists, int server, char *token_file, size_t token_size,
                   char *reason, size_t size) {
  int count = config->server_count = count_of(lists->servers);
  const char *wrong = !copy_item(config->servers, sizeof config->servers, lists->servers, server, count) ? "server"
                      : !copy_item(config->name, sizeof config->name, lists->name, server, count)        ? "name"
                      : !copy_item(token_file, token_size, lists->token_file, server, count)             ? "token-file"
                      : !copy_item(config->certificates, sizeof config->certificates, lists->certificates, server, count)
                          ? "certificates"
                          : NULL;
  if (wrong)
    snprintf(reason, size, "the setting '%s' has %d items for %d servers: give one, or one for each server", wrong,
             count_of(!strcmp(wrong, "name")         ? lists->name
                      : !strcmp(wrong, "token-file") ? lists->token_file
                                                     : lists->certificates),
             count);
  else if (count > GRAFT_MOST_SERVERS)
    snprintf(reason, size, "a program can use %d servers, and 'server' lists %d", GRAFT_MOST_SERVERS, count);
  config->addresses = count > 1 ? server + 1 : 0;
  return !wrong && count <= GRAFT_MOST_SERVERS;
}

bool graft_config_read(struct graft_config *config, int server, char *reason, size_t size) {
  struct lists lists = {0};
  memset(config, 0, sizeof *config);
  config->spin_microseconds = 50;
  copy(config->pci_devices, sizeof config->pci_devices, "/sys/bus/pci/devices");
  copy(config->rdma_devices, sizeof config->rdma_devices, "/sys/class/infiniband");
  config->data_connections = -1;
  char token_file[512] = "", managed[16] = "shared", encryption[16] = "auto";
  const char *path = getenv("GRAFT_CONFIG");
  FILE *file = fopen(path ? path : "/etc/graft/client.conf", "re");
  if (!file && path) {
    snprintf(reason, size, "GRAFT_CONFIG=%s: %s", path, strerror(errno));
    return false;
  }
  if (file) {
    char line[LIST];
    while (fgets(line, sizeof line, file)) {
      char *text = trim(line), *equals = strchr(text, '=');
      if (*text == '#' || !equals) continue;
      *equals = 0;
      char *key = trim(text), *value = trim(equals + 1);
      if (!strcmp(key, "server")) copy(lists.servers, sizeof lists.servers, value);
      if (!strcmp(key, "name")) copy(lists.name, sizeof lists.name, value);
      if (!strcmp(key, "token-file")) copy(lists.token_file, sizeof lists.token_file, value);
      if (!strcmp(key, "certificates")) copy(lists.certificates, sizeof lists.certificates, value);
      if (!strcmp(key, "pci-devices")) copy(config->pci_devices, sizeof config->pci_devices, value);
      if (!strcmp(key, "rdma-ports")) copy(config->rdma_ports, sizeof config->rdma_ports, value);
      if (!strcmp(key, "spin-microseconds")) config->spin_microseconds = atoi(value);
      if (!strcmp(key, "data-connections")) config->data_connections = atoi(value);
      if (!strcmp(key, "lanes")) {
        config->data_connections = atoi(value);
        notice_renamed("key 'lanes' of the configuration file", "data-connections");
      }
      if (!strcmp(key, "managed")) copy(managed, sizeof managed, value);
      if (!strcmp(key, "encryption")) copy(encryption, sizeof encryption, value);
    }
    fclose(file);
  }
  const char *value;
  if ((value = getenv("GRAFT_SERVER"))) copy(lists.servers, sizeof lists.servers, value);
  if ((value = getenv("GRAFT_NAME"))) copy(lists.name, sizeof lists.name, value);
  if ((value = getenv("GRAFT_TOKEN_FILE"))) copy(lists.token_file, sizeof lists.token_file, value);
  if ((value = getenv("GRAFT_CERTIFICATES"))) copy(lists.certificates, sizeof lists.certificates, value);
  if ((value = getenv("GRAFT_SPIN_MICROSECONDS"))) config->spin_microseconds = atoi(value);
  if ((value = getenv("GRAFT_PCI_DEVICES"))) copy(config->pci_devices, sizeof config->pci_devices, value);
  if ((value = getenv("GRAFT_RDMA_PORTS"))) copy(config->rdma_ports, sizeof config->rdma_ports, value);
  if ((value = getenv("GRAFT_RDMA_DEVICES"))) copy(config->rdma_devices, sizeof config->rdma_devices, value);
  if ((value = getenv("GRAFT_LANES"))) {
    config->data_connections = atoi(value);
    notice_renamed("environment variable GRAFT_LANES", "GRAFT_DATA_CONNECTIONS");
  }
  if ((value = getenv("GRAFT_DATA_CONNECTIONS"))) config->data_connections = atoi(value);
  if ((value = getenv("GRAFT_MANAGED"))) copy(managed, sizeof managed, value);
  if ((value = getenv("GRAFT_ENCRYPTION"))) copy(encryption, sizeof encryption, value);
  if (!choose(config, &lists, server, token_file, sizeof token_file, reason, size)) return false;
  config->managed_exclusive = !strcmp(managed, "exclusive");
  if (!config->managed_exclusive && strcmp(managed, "shared")) {
    snprintf(reason, size, "'managed' or GRAFT_MANAGED is '%s': it can be shared or exclusive", managed);
    return false;
  }
  if (!parse_encryption(encryption, &config->encryption)) {
    snprintf(reason, size, "'encryption' or GRAFT_ENCRYPTION is '%s': it can be auto, always or never", encryption);
    return false;
  }
  config->stats = (value = getenv("GRAFT_STATS")) && strcmp(value, "0");
  config->debug = (value = getenv("GRAFT_DEBUG")) ? atoi(value) : 0;
  if (!config->servers[strspn(config->servers, GRAFT_BETWEEN_SERVERS)]) {
    snprintf(reason, size, "no server: set 'server' in /etc/graft/client.conf or GRAFT_SERVER");
    return false;
  }
  if (!config->name[0] && gethostname(config->name, sizeof config->name - 1)) copy(config->name, sizeof config->name, "client");
  if (token_file[0] && !config->certificates[0]) {
    if (!read_token(token_file, config->token, reason, size)) return false;
    config->has_token = true;
  }
  return true;
}
