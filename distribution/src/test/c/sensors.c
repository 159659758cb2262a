/* Prints what NVML shows of a GPU: sensors DEVICE. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static int (*function(const char *name))() {
  void *symbol = dlsym(library, name);
  int (*found)();
  memcpy(&found, &symbol, sizeof symbol);
  return found;
}

static void show(const char *name, int result, unsigned value) {
  if (result) {
    printf("%s error %d\n", name, result);
  } else {
    printf("%s %u\n", name, value);
  }
}

int main(int argc, char **argv) {
  struct {
    unsigned version;
    int sensor, degrees;
  } temperature = {12 | 1 << 24, 0, 0};
  void *device = NULL;
  unsigned value = 0, more = 0;
  if (argc != 2 || !(library = dlopen("libnvidia-ml.so.1", RTLD_NOW)) || function("nvmlInit_v2")() ||
      function("nvmlDeviceGetHandleByIndex_v2")(atoi(argv[1]), &device)) {
    return 2;
  }
  int result = function("nvmlDeviceGetTemperature")(device, 0, &value);
  show("temperature", result, value);
  result = function("nvmlDeviceGetTemperatureV")(device, &temperature);
  show("temperature by structure", result, (unsigned)temperature.degrees);
  result = function("nvmlDeviceGetTemperature")(device, 1, &value);
  show("another sensor", result, value);
  result = function("nvmlDeviceGetPowerUsage")(device, &value);
  show("power", result, value);
  /* A reading is kept for 100 ms, and the library's next one is 1 mW more. */
  enum { QUESTIONS = 200 };
  for (int i = 0; i < QUESTIONS && !result; i++) result = function("nvmlDeviceGetPowerUsage")(device, &more);
  if (!result) printf("%s\n", more - value < QUESTIONS ? "fewer readings than questions" : "a reading for each question");
  result = function("nvmlDeviceGetEnforcedPowerLimit")(device, &value);
  show("power limit", result, value);
  for (int type = 0; type < 5; type++) {
    char name[16];
    snprintf(name, sizeof name, "clock %d", type);
    result = function("nvmlDeviceGetClockInfo")(device, type, &value);
    show(name, result, value);
  }
  result = function("nvmlDeviceGetPerformanceState")(device, &value);
  show("state", result, value);
  struct {
    unsigned gpu, memory;
  } rates = {0, 0};
  result = function("nvmlDeviceGetUtilizationRates")(device, &rates);
  show("utilization", result, rates.gpu);
  result = function("nvmlDeviceGetBrand")(device, &value);
  show("brand", result, value);
  for (unsigned counter = 0; counter < 3; counter++) {
    result = function("nvmlDeviceGetPcieThroughput")(device, counter, &value);
    show("traffic", result, value);
  }
  void *other = NULL, *end = NULL;
  result = function("nvmlDeviceGetHandleByIndex_v2")(1, &other);
  if (!result) result = function("nvmlDeviceGetTopologyCommonAncestor")(device, other, &value);
  show("path to device 1", result, value);
  unsigned links = 0, link = 0;
  for (unsigned i = 0; i < 18; i++) {
    if (function("nvmlDeviceGetNvLinkState")(device, i, &value) || value != 1) continue;
    links++;
    link = i;
  }
  printf("links %u\n", links);
  result = function("nvmlDeviceGetNvLinkState")(device, 18, &value);
  show("link that no GPU has", result, value);
  result = function("nvmlDeviceGetNvLinkCapability")(device, link, 0, &value);
  show("peers by link", result, value);
  result = function("nvmlDeviceGetNvLinkRemoteDeviceType")(device, link, &value);
  show("link leads to", result, value);
  struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
  } place;
  result = function("nvmlDeviceGetNvLinkRemotePciInfo_v2")(device, link, &place);
  if (!result) result = function("nvmlDeviceGetHandleByPciBusId_v2")(place.text, &end);
  printf("its end is %s\n", result ? "at no place" : end == other ? "device 1" : "another device");
  return 0;
}
