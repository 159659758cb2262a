/* Shared by the workloads: the driver's functions, options, clocks, and the output of figures. */
#ifndef GRAFT_WORKLOAD_H
#define GRAFT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

/* ---- The driver: the declarations used from the toolkit's cuda.h ---- */

typedef void *handle;
typedef uint64_t devptr;

#define DRIVER(F)                                                                                                \
  F(cuInit, (unsigned))                                                                                          \
  F(cuGetErrorName, (int, const char **))                                                                        \
  F(cuDriverGetVersion, (int *))                                                                                 \
  F(cuDeviceGetCount, (int *))                                                                                   \
  F(cuDeviceGet, (int *, int))                                                                                   \
  F(cuDeviceGetName, (char *, int, int))                                                                         \
  F(cuDevicePrimaryCtxRetain, (handle *, int))                                                                   \
  F(cuCtxSetCurrent, (handle))                                                                                   \
  F(cuCtxEnablePeerAccess, (handle, unsigned))                                                                   \
  F(cuCtxSynchronize, (void))                                                                                    \
  F(cuModuleLoadData, (handle *, const void *))                                                                  \
  F(cuModuleGetFunction, (handle *, handle, const char *))                                                       \
  F(cuMemAlloc_v2, (devptr *, size_t))                                                                           \
  F(cuMemGetInfo_v2, (size_t *, size_t *))                                                                       \
  F(cuMemFree_v2, (devptr))                                                                                      \
  F(cuMemHostAlloc, (void **, size_t, unsigned))                                                                 \
  F(cuMemFreeHost, (void *))                                                                                     \
  F(cuMemcpyHtoD_v2, (devptr, const void *, size_t))                                                             \
  F(cuMemcpyDtoH_v2, (void *, devptr, size_t))                                                                   \
  F(cuMemcpyHtoDAsync_v2, (devptr, const void *, size_t, handle))                                                \
  F(cuMemcpyDtoHAsync_v2, (void *, devptr, size_t, handle))                                                      \
  F(cuMemcpyPeerAsync, (devptr, handle, devptr, handle, size_t, handle))                                         \
  F(cuMemcpyDtoDAsync_v2, (devptr, devptr, size_t, handle))                                                      \
  F(cuStreamCreate, (handle *, unsigned))                                                                        \
  F(cuStreamSynchronize, (handle))                                                                               \
  F(cuEventCreate, (handle *, unsigned))                                                                         \
  F(cuEventRecord, (handle, handle))                                                                             \
  F(cuEventSynchronize, (handle))                                                                                \
  F(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, \
                     void **))

#define DECLARE(name, parameters) extern int(*name) parameters;
DRIVER(DECLARE)
#undef DECLARE

/* Ends the program with result=failed if a call fails. */
void check(int result, const char *call);
#define CALL(call) check(call, #call)

/* ---- Options ---- */
struct options {
  double scale;       /* multiplies the amount of work */
  size_t most;        /* the largest copy, bytes */
  double seconds;     /* the time to measure one point */
  int share;          /* synthetic: per cent of the time in transfers */
  const char *direction;
  size_t low, high;   /* synthetic: bounds of a transfer's size */
  unsigned seed;
  const char *amount; /* synthetic: what calibration printed, or NULL to calibrate */
  int devices;
  const char *only;   /* kernels, memory: the only part to run; sharing: what to do */
  bool quick;         /* remoting, plain-tcp: no copies over 8 MiB, fewer samples */
  int streams;        /* plain-tcp: connections */
  double kernel;      /* sharing: the GPU time of a kernel, microseconds */
  double rounds;      /* sharing: rounds of the kernel's loop in a microsecond, which calibration printed */
};
extern struct options options;

/* Whether the options select this part. */
bool wanted(const char *part);
/* COUNT scaled, at least 1. */
unsigned scaled(unsigned count);

/* ---- Output: lines on standard output ---- */
/* A measurement as graft.comparison.results.Measurement reads it: {"name":NAME,"size":SIZE,"unit":UNIT,"samples":[...]};
 * SIZE is 0 for figures without a size. The reader computes the statistics. */
void figures(const char *name, size_t size, const double *samples, int count, const char *unit);
void figure(const char *name, size_t size, double sample, const char *unit);
/* A figure that a process has once, such as the time of its start. The program takes the caches of compiled kernels to be filled;
 * the reader, who knows, may correct that. */
void figure_of_process(const char *name, double milliseconds);
/* Prints result=failed: WHY and ends with 1. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints result=unsupported: WHY and ends with 77. */
void unsupported(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- Devices, kernels, time ---- */
double now(void); /* microseconds */
int by_value(const void *a, const void *b); /* the order of two doubles, for qsort */
/* Finds the driver and starts CUDA. */
void load_driver(void);
int devices(void);
void use_device(int device); /* its context is made once */
handle context_of(int device); /* of a device that was used */
handle kernel(const char *name);
void launch(handle function, unsigned blocks, unsigned threads, handle stream, void **arguments);
devptr device_memory(size_t bytes);
void *host_memory(size_t bytes);
void *pinned_memory(size_t bytes);
float *randoms(unsigned count, float low, float high);
bool close_to(float got, float expected, float relative);
/* The mean time, in microseconds, of one of COUNT asynchronous calls of work(state), after one call to warm up. */
double timed(void (*work)(void *), void *state, int count);
/* As timed, for as many calls as fit into options.seconds, from 3 to 1000. */
double measured(void (*work)(void *), void *state);

void bandwidth(void);
void launches(void);
void synthetic(void);
void kernels(void);
void patterns(void);
void multi_gpu(void);
/* The sizes of copies that remoting and plain-tcp measure. */
extern const size_t sizes[];
size_t copy_sizes(void);
void remoting(void);
void plain_tcp(void);
void sharing(void);
void steps(void);
/* multi-gpu: starts the processes of further nodes. Called before load_driver, since CUDA does not work after fork. */
void start_nodes(void);

#endif
