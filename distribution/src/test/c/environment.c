/* What CUDA's environment variables change; the first argument selects the question. Each line of output is an answer. Built with gcc
 * alone; the kernel is PTX. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGetUuid_v2(unsigned char *uuid, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetLoadingMode(int *mode);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemGetInfo_v2(size_t *unused, size_t *total);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, unsigned long long flags);
int cuMemGetAllocationPropertiesFromHandle(void *properties, uint64_t handle);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuMemPoolGetAccess(int *flags, void *pool, const void *location);
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry wrong() { .reg .u64 %rd<2>; .reg .u32 %r<2>; mov.u64 %rd1, 16; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

static void current(int device) {
  void *context;
  RUN(cuDevicePrimaryCtxRetain(&context, device));
  RUN(cuCtxSetCurrent(context));
}

/* The last digits of the devices' UUIDs: the software device's number. */
static int devices(void) {
  int count, r = cuInit(0);
  if (r) {
    printf("cuInit %d\n", r);
    return 0;
  }
  RUN(cuDeviceGetCount(&count));
  printf("devices");
  for (int i = 0; i < count; i++) {
    unsigned char uuid[16];
    RUN(cuDeviceGetUuid_v2(uuid, i));
    printf(" %c", uuid[15]);
  }
  printf("\n");
  return 0;
}

/* Memory, pools and their properties name the program's device, whichever device of the server that is. */
static int memory(void) {
  int properties[8] = {1, 0, 1, 0}, location[2] = {1, 0}, flags, ordinal;
  uint64_t pointer, handle;
  size_t unused, total;
  void *pool;
  RUN(cuInit(0));
  current(0);
  RUN(cuMemAlloc_v2(&pointer, 1 << 20));
  RUN(cuPointerGetAttribute(&ordinal, 9, pointer));
  printf("memory of device %d\n", ordinal);
  RUN(cuMemAllocAsync(&pointer, 1 << 20, NULL));
  RUN(cuDeviceGetDefaultMemPool(&pool, 0));
  RUN(cuMemPoolGetAccess(&flags, pool, location));
  printf("pool's access %d\n", flags);
  RUN(cuMemGetInfo_v2(&unused, &total));
  int created = cuMemCreate(&handle, 2 << 20, properties, 0);
  if (!created) {
    memset(properties, 0xff, sizeof properties);
    RUN(cuMemGetAllocationPropertiesFromHandle(properties, handle));
  }
  printf("physical memory of device %d\n", properties[3]);
  return 0;
}

/* Where the error of a kernel appears. */
static int blocking(void) {
  void *module, *function;
  RUN(cuInit(0));
  current(0);
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&function, module, "wrong"));
  printf("launch %d\n", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  printf("wait %d\n", cuCtxSynchronize());
  return 0;
}

static int code(void) {
  void *module;
  int mode;
  RUN(cuInit(0));
  current(0);
  RUN(cuModuleGetLoadingMode(&mode));
  printf("PTX %d, loading %s\n", cuModuleLoadData(&module, PTX), mode == 1 ? "eager" : "lazy");
  return 0;
}

/* Reads a file of words that end with zeros. An empty word follows the last one. */
static void read_words(const char *path, char *words, size_t room) {
  FILE *file = fopen(path, "r");
  size_t bytes = file ? fread(words, 1, room - 2, file) : 0;
  if (file) fclose(file);
  words[bytes] = words[bytes + 1] = 0;
}

/* The first word with that beginning; NULL if there is none. */
static const char *find(const char *words, const char *beginning) {
  for (; *words; words += strlen(words) + 1) {
    if (!strncmp(words, beginning, strlen(beginning))) return words;
  }
  return NULL;
}

/* Prints CUDA_DEVICE_MAX_CONNECTIONS of each worker on this host whose environment has it. */
static int connections(void) {
  static char command[1 << 16], environment[1 << 16];
  RUN(cuInit(0));
  current(0);
  DIR *processes = opendir("/proc");
  for (struct dirent *one; processes && (one = readdir(processes));) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/cmdline", one->d_name);
    read_words(path, command, sizeof command);
    if (!find(command, "graft.remoting.server.worker.WorkerMain")) continue;
    snprintf(path, sizeof path, "/proc/%s/environ", one->d_name);
    read_words(path, environment, sizeof environment);
    const char *variable = find(environment, "CUDA_DEVICE_MAX_CONNECTIONS=");
    if (variable) puts(variable);
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *question = argc > 1 ? argv[1] : "";
  if (!strcmp(question, "devices")) return devices();
  if (!strcmp(question, "memory")) return memory();
  if (!strcmp(question, "blocking")) return blocking();
  if (!strcmp(question, "code")) return code();
  if (!strcmp(question, "connections")) return connections();
  return 2;
}
