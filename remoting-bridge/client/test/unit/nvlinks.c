/* nvml/links.c with devices 0 and 1 behind a switch, device 2 of another server, device 3 with a link to device 1, and device 4, as 0 and 1, of
 * which nothing is asked until its owner does not show it. */
#include <string.h>

#include "../../nvml/links.c"
#include "unit.h"

enum { DEVICES = 5, OF_ANOTHER_SERVER = 2, DIRECT = 3, LATE = 4, LINKS = 3 };

struct stand_in {
  char none;
} stand_ins[DEVICES];

static bool owner_shows = true;
static unsigned questions;

static struct device *number(unsigned i) { return (struct device *)(void *)&stand_ins[i]; }
static unsigned of(const struct device *device) { return (unsigned)((const struct stand_in *)(const void *)device - stand_ins); }

int valid(const struct device *device) { return device ? OK : INVALID_ARGUMENT; }
struct device *device_at(unsigned int index) {
  return index < DEVICES ? number(index) : NULL;
}

int driver_peer_access(const struct device *device, const struct device *peer, int *can) {
  *can = of(device) != OF_ANOTHER_SERVER && of(peer) != OF_ANOTHER_SERVER;
  return OK;
}

/* Of the links of device 3 the first leads nowhere that the program knows, and the last one to a device that the server does not have. */
int driver_sensor(const struct device *device, enum sensor sensor, unsigned index, unsigned *value) {
  questions++;
  *value = sensor == SENSOR_NVLINKS ? LINKS : sensor == SENSOR_NVLINK_VERSION ? 4 : LINK_TO_SWITCH;
  if (sensor == SENSOR_NVLINK_END && of(device) == DIRECT) *value = index == LINKS - 1 ? 99 : 1;
  return owner_shows && (sensor != SENSOR_NVLINK_END || (index < LINKS && (of(device) != DIRECT || index))) ? OK : NOT_SUPPORTED;
}

struct device *driver_neighbour(const struct device *device, unsigned ordinal) {
  return of(device) == OF_ANOTHER_SERVER ? NULL : device_at(ordinal);
}

int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci) {
  *pci = (struct pci){.bus = 0x40 + of(device)};
  return OK;
}

static unsigned shown(unsigned i) {
  unsigned count = 0;
  for (int state = 0; !nvmlDeviceGetNvLinkState(number(i), count, &state) && state == ENABLED; count++) state = 0;
  return count;
}

void test_nvlinks(void) {
  int state, status;
  unsigned value = 0;
  struct pci pci;
  CHECK(shown(0) == LINKS && shown(1) == LINKS);
  CHECK(shown(OF_ANOTHER_SERVER) == 0);
  CHECK(nvmlDeviceGetNvLinkState(number(0), LINKS, &state) == NOT_SUPPORTED);
  CHECK(nvmlDeviceGetNvLinkState(number(0), MAX_LINKS, &state) == INVALID_ARGUMENT);
  CHECK(nvmlDeviceGetNvLinkState(number(0), 0, NULL) == INVALID_ARGUMENT);
  CHECK(!nvmlDeviceGetNvLinkVersion(number(0), 0, &value) && value == 4);
  CHECK(!nvmlDeviceGetNvLinkCapability(number(0), 0, 0, &value) && value == 1);
  CHECK(!nvmlDeviceGetNvLinkCapability(number(0), 0, 1, &value) && value == 0);
  CHECK(nvmlDeviceGetNvLinkCapability(number(0), 0, 6, &value) == INVALID_ARGUMENT);
  CHECK(!nvmlDeviceGetNvLinkRemotePciInfo_v2(number(0), 0, &pci) && !strcmp(pci.text, "FFFFFFF:FFFF:FF"));
  CHECK(!nvmlDeviceGetP2PStatus(number(0), number(1), 2, &status) && status == 0);
  CHECK(!nvmlDeviceGetP2PStatus(number(0), number(OF_ANOTHER_SERVER), 2, &status) && status != 0);
  CHECK(!nvmlDeviceGetP2PStatus(number(0), number(DIRECT), 0, &status) && status == 0);
  CHECK(!nvmlDeviceGetP2PStatus(number(DIRECT), number(0), 2, &status) && status != 0);
  CHECK(!nvmlDeviceGetP2PStatus(number(DIRECT), number(1), 2, &status) && status == 0);
  CHECK(!nvmlDeviceGetP2PStatus(number(DIRECT), number(DIRECT), 2, &status) && status == 0);
  CHECK(nvmlDeviceGetNvLinkState(number(DIRECT), 0, &state) == NOT_SUPPORTED);
  CHECK(!nvmlDeviceGetNvLinkState(number(DIRECT), 1, &state) && state == ENABLED);
  CHECK(nvmlDeviceGetNvLinkState(number(DIRECT), 2, &state) == NOT_SUPPORTED);
  CHECK(!nvmlDeviceGetNvLinkRemoteDeviceType(number(DIRECT), 1, &state) && state == REMOTE_IS_GPU);
  CHECK(!nvmlDeviceGetNvLinkRemotePciInfo_v2(number(DIRECT), 1, &pci) && pci.bus == 0x41);
  CHECK(!link_field(number(DIRECT), 91, 0, &value) && value == 2);
  CHECK(!link_field(number(0), 165, 0, &value) && value == ENABLED);
  CHECK(link_field(number(0), 165, LINKS, &value) == NOT_SUPPORTED);
  CHECK(!link_field(number(0), 91, 0, &value) && value == LINKS);
  CHECK(link_field(number(0), 1, 0, &value) == NOT_SUPPORTED);
  questions = 0;
  CHECK(shown(0) == LINKS && shown(1) == LINKS && questions == 0); /* a question is a round trip */
  owner_shows = false;
  CHECK(shown(LATE) == 0);
}
