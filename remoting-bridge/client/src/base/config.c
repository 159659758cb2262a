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

/* The number of a word among three, -1 if it is another. */
static int parse_word(const char *text, const char *const words[3]) {
  for (int i = 0; i < 3; i++) {
    if (!strcmp(text, words[i])) return i;
  }
  return -1;
}

#define LIST 4096 /* the longest value of a setting, for all servers */

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

/* Earlier names of settings still work. */
static void notice_renamed(const char *what, const char *now) {
  static bool is_said; /* the configuration is read for each server */
  if (!__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED)) graft_say("the %s is now called %s", what, now);
}

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

/* The settings as they are written: those that may be different for each server, and words. */
struct written {
  char servers[LIST], name[LIST], token_file[LIST], certificates[LIST];
  char managed[16], encryption[16], ktls[16], compression[16], known_data[16], addresses[16];
};

/* Takes the server's items of the lists. False with a reason. */
static bool choose(struct graft_config *config, const struct written *w, int server, char *token_file, size_t token_size,
                   char *reason, size_t size) {
  const struct {
    const char *key, *list;
    char *to;
    size_t size;
  } items[] = {{"server", w->servers, config->servers, sizeof config->servers},
               {"name", w->name, config->name, sizeof config->name},
               {"token-file", w->token_file, token_file, token_size},
               {"certificates", w->certificates, config->certificates, sizeof config->certificates}};
  int count = config->server_count = count_of(w->servers);
  if (count > GRAFT_MOST_SERVERS) {
    snprintf(reason, size, "'server' or GRAFT_SERVER lists %d servers: a program can use %d", count, GRAFT_MOST_SERVERS);
    return false;
  }
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    if (copy_item(items[i].to, items[i].size, items[i].list, server, count)) continue;
    snprintf(reason, size, "the setting '%s' has %d items for %d servers: give one, or one for each server", items[i].key,
             count_of(items[i].list), count);
    return false;
  }
  return true;
}

/* Takes a setting by its key in the file. Keys that are not known are those of a later version. */
static void set(struct graft_config *config, struct written *w, const char *key, const char *value) {
  const struct {
    const char *key;
    char *to;
    size_t size;
  } texts[] = {{"server", w->servers, sizeof w->servers},
               {"name", w->name, sizeof w->name},
               {"token-file", w->token_file, sizeof w->token_file},
               {"certificates", w->certificates, sizeof w->certificates},
               {"pci-devices", config->pci_devices, sizeof config->pci_devices},
               {"rdma-ports", config->rdma_ports, sizeof config->rdma_ports},
               {"rdma-devices", config->rdma_devices, sizeof config->rdma_devices},
               {"managed", w->managed, sizeof w->managed},
               {"encryption", w->encryption, sizeof w->encryption},
               {"ktls", w->ktls, sizeof w->ktls},
               {"compression", w->compression, sizeof w->compression},
               {"known-data", w->known_data, sizeof w->known_data},
               {"addresses", w->addresses, sizeof w->addresses}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!strcmp(key, texts[i].key)) copy(texts[i].to, texts[i].size, value);
  }
  if (!strcmp(key, "spin-microseconds")) config->spin_microseconds = atoi(value);
  if (!strcmp(key, "data-connections") || !strcmp(key, "lanes")) config->data_connections = atoi(value);
}

static void read_file(FILE *file, struct graft_config *config, struct written *w) {
  char line[LIST];
  while (fgets(line, sizeof line, file)) {
    char *text = trim(line), *equals = strchr(text, '=');
    if (*text == '#' || !equals) continue;
    *equals = 0;
    char *key = trim(text);
    set(config, w, key, trim(equals + 1));
    if (!strcmp(key, "lanes")) notice_renamed("key 'lanes' of the configuration file", "data-connections");
  }
}

static void read_environment(struct graft_config *config, struct written *w) {
  static const char *const variables[][2] = {{"GRAFT_SERVER", "server"},
                                             {"GRAFT_NAME", "name"},
                                             {"GRAFT_TOKEN_FILE", "token-file"},
                                             {"GRAFT_CERTIFICATES", "certificates"},
                                             {"GRAFT_SPIN_MICROSECONDS", "spin-microseconds"},
                                             {"GRAFT_PCI_DEVICES", "pci-devices"},
                                             {"GRAFT_RDMA_PORTS", "rdma-ports"},
                                             {"GRAFT_RDMA_DEVICES", "rdma-devices"},
                                             {"GRAFT_LANES", "lanes"},
                                             {"GRAFT_DATA_CONNECTIONS", "data-connections"},
                                             {"GRAFT_MANAGED", "managed"},
                                             {"GRAFT_ENCRYPTION", "encryption"},
                                             {"GRAFT_KTLS", "ktls"},
                                             {"GRAFT_COMPRESSION", "compression"},
                                             {"GRAFT_KNOWN_DATA", "known-data"},
                                             {"GRAFT_ADDRESSES", "addresses"}};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i][0]);
    if (value) set(config, w, variables[i][1], value);
  }
  if (getenv("GRAFT_LANES")) notice_renamed("environment variable GRAFT_LANES", "GRAFT_DATA_CONNECTIONS");
}

/* Understands the words. False with a reason. */
static bool understand(struct graft_config *config, const struct written *w, char *reason, size_t size) {
  config->managed_exclusive = !strcmp(w->managed, "exclusive");
  config->ktls = !strcmp(w->ktls, "auto");
  bool apart = !strcmp(w->addresses, "apart");
  int encryption = parse_word(w->encryption, (const char *const[]){"auto", "always", "never"});
  int compression = parse_word(w->compression, (const char *const[]){"auto", "yes", "no"});
  int known_data = parse_word(w->known_data, (const char *const[]){"auto", "yes", "no"});
  if (!config->managed_exclusive && strcmp(w->managed, "shared")) {
    snprintf(reason, size, "'managed' or GRAFT_MANAGED is '%s': it can be shared or exclusive", w->managed);
  } else if (encryption < 0) {
    snprintf(reason, size, "'encryption' or GRAFT_ENCRYPTION is '%s': it can be auto, always or never", w->encryption);
  } else if (!config->ktls && strcmp(w->ktls, "no")) {
    snprintf(reason, size, "'ktls' or GRAFT_KTLS is '%s': it can be auto or no", w->ktls);
  } else if (compression < 0) {
    snprintf(reason, size, "'compression' or GRAFT_COMPRESSION is '%s': it can be auto, yes or no", w->compression);
  } else if (known_data < 0) {
    snprintf(reason, size, "'known-data' or GRAFT_KNOWN_DATA is '%s': it can be auto, yes or no", w->known_data);
  } else if (!apart && strcmp(w->addresses, "any")) {
    snprintf(reason, size, "'addresses' or GRAFT_ADDRESSES is '%s': it can be apart or any", w->addresses);
  } else {
    config->encryption = (enum graft_encryption)encryption;
    config->compression = (enum graft_compression)compression;
    config->known_data = (enum graft_known_data_choice)known_data;
    config->addresses = apart ? config->addresses : 0;
    return true;
  }
  return false;
}

bool graft_config_read(struct graft_config *config, int server, char *reason, size_t size) {
  struct written written = {
      .managed = "shared", .encryption = "auto", .ktls = "auto", .compression = "auto", .known_data = "auto", .addresses = "apart"};
  char token_file[512] = "";
  memset(config, 0, sizeof *config);
  config->spin_microseconds = 50;
  copy(config->pci_devices, sizeof config->pci_devices, "/sys/bus/pci/devices");
  copy(config->rdma_devices, sizeof config->rdma_devices, "/sys/class/infiniband");
  config->data_connections = -1;
  const char *path = getenv("GRAFT_CONFIG"), *value;
  FILE *file = fopen(path ? path : "/etc/graft/client.conf", "re");
  if (!file && path) {
    snprintf(reason, size, "GRAFT_CONFIG=%s: %s", path, strerror(errno));
    return false;
  }
  if (file) {
    read_file(file, config, &written);
    fclose(file);
  }
  read_environment(config, &written);
  if (!choose(config, &written, server, token_file, sizeof token_file, reason, size)) return false;
  config->addresses = config->server_count > 1 ? server + 1 : 0;
  if (!understand(config, &written, reason, size)) return false;
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
