/* A kernel fails on device 0 while device 1 is current, and the program waits in the way of its argument: the wait returns the
 * error, device 1 goes on, and device 0 keeps the error. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *code);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamQuery(void *stream);
int cuStreamSynchronize(void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventSynchronize(void *event);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry illegal() { .reg .b64 %a; mov.u64 %a, 16; st.global.u32 [%a], 0; ret; }\n";

enum { NOT_READY = 600 };

static int wait_for(const char *way, void *stream, void *event) {
  int result;
  if (!strcmp(way, "stream")) return cuStreamSynchronize(stream);
  if (!strcmp(way, "event")) return cuEventSynchronize(event);
  do {
    result = strcmp(way, "stream-query") ? cuEventQuery(event) : cuStreamQuery(stream);
  } while (result == NOT_READY);
  return result;
}

int main(int count, char **arguments) {
  void *context[2], *module, *function, *stream, *event;
  uint64_t address;
  if (count != 2) return 2;
  RUN(cuInit(0));
  for (int i = 0; i < 2; i++) RUN(cuDevicePrimaryCtxRetain(&context[i], i));
  RUN(cuCtxSetCurrent(context[0]));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&function, module, "illegal"));
  RUN(cuStreamCreate(&stream, 1));
  RUN(cuEventCreate(&event, 0));
  RUN(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  RUN(cuEventRecord(event, stream));
  RUN(cuCtxSetCurrent(context[1]));
  printf("wait %d\n", wait_for(arguments[1], stream, event));
  printf("device 1 %d %d\n", cuMemAlloc_v2(&address, 4096), cuCtxSynchronize());
  printf("stream of device 0 %d\n", cuStreamSynchronize(stream));
  RUN(cuCtxSetCurrent(context[0]));
  printf("device 0 %d %d\n", cuMemAlloc_v2(&address, 4096), cuCtxSynchronize());
  return 0;
}
