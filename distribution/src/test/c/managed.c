/* With GRAFT_MANAGED=exclusive, the program and kernels add to the same managed memory at the same time and no addition is
 * lost. Built with gcc alone. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(uint64_t pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

/* Each thread adds 1 to the first word, and 1 to its own word behind it, the given number of times. */
static const char PTX[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 times) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<6>; .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [times]; mov.u32 %r2, 0;\n"
    "again:\n"
    "  atom.global.sys.add.u32 %r3, [%rd1], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;\n"
    "  @%p1 bra again;\n"
    "  mov.u32 %r4, %tid.x; mul.wide.u32 %rd2, %r4, 65536; add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r5, [%rd3+4]; add.u32 %r5, %r5, 1; st.global.u32 [%rd3+4], %r5; ret;\n}\n";

/* The words of the 40 threads are 64 KiB apart and span 2.5 MiB. */
enum { THREADS = 40, TIMES = 3000, STEP = 65536 / 4, BYTES = THREADS * 65536, LAUNCHES = 20 };

static void *add, *stream;
static volatile unsigned *m;

static int launch(void) {
  unsigned times = TIMES;
  uint64_t p = (uintptr_t)m;
  void *parameters[] = {&p, &times};
  return cuLaunchKernel(add, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL);
}

static unsigned behind(void) {
  unsigned sum = 0;
  for (int i = 0; i < THREADS; i++) sum += m[i * STEP + 1];
  return sum;
}

static void clear(void) {
  RUN(cuCtxSynchronize());
  memset((void *)(uintptr_t)m, 0, BYTES);
}

static void both(void) {
  clear();
  RUN(launch());
  for (int i = 0; i < 1000; i++) __atomic_fetch_add((unsigned *)(uintptr_t)m, 1, __ATOMIC_SEQ_CST);
  printf("kernel and program: %u and %u\n", m[0], behind());
  m[0] += 5;
  RUN(launch());
  RUN(cuStreamSynchronize(stream));
  printf("once more, and waited: %u and %u\n", m[0], behind());
}

static void *launch_often(void *context) {
  RUN(cuCtxSetCurrent(context));
  for (int i = 0; i < LAUNCHES; i++) RUN(launch());
  return NULL;
}

static void two_threads(void *context) {
  pthread_t other;
  clear();
  pthread_create(&other, NULL, launch_often, context);
  for (int i = 0; i < 1000000; i++) __atomic_fetch_add((unsigned *)(uintptr_t)m, 1, __ATOMIC_SEQ_CST);
  pthread_join(other, NULL);
  RUN(cuCtxSynchronize());
  printf("while another thread launches: %u and %u\n", m[0], behind());
}

/* System calls on such memory fail if the operating system does not let the client handle their page faults. */
static void system_call(void) {
  int ends[2];
  unsigned seen = 0;
  clear();
  if (pipe(ends)) exit(2);
  RUN(launch());
  ssize_t n = write(ends[1], (void *)(uintptr_t)m, sizeof seen);
  int error = errno;
  if (n > 0 && read(ends[0], &seen, sizeof seen) != sizeof seen) exit(2);
  int right = (n > 0 && seen == THREADS * TIMES) || (n < 0 && error == EFAULT && geteuid());
  printf("a system call gets what it may: %s\n", right ? "yes" : "no");
}

static void look(void *seen) { *(unsigned *)seen = m[0]++; }

static void host_function(void) {
  unsigned seen = 0;
  clear();
  RUN(launch());
  RUN(cuLaunchHostFunc(stream, look, &seen));
  RUN(launch());
  RUN(cuStreamSynchronize(stream));
  printf("a host function sees %u and adds one: %u\n", seen, m[0]);
}

/* The client itself accesses the managed memory during calls while a kernel runs, and must not wait for itself. */
static void calls(void) {
  uint64_t device;
  unsigned back = 0;
  clear();
  RUN(cuMemAlloc_v2(&device, 4));
  RUN(launch());
  RUN(cuMemGetInfo_v2((size_t *)(uintptr_t)(m + 4), (size_t *)(uintptr_t)(m + 6)));
  int sensible = *(size_t *)(uintptr_t)(m + 4) <= *(size_t *)(uintptr_t)(m + 6) && m[6];
  printf("a result in it: %s\n", sensible ? "yes" : "no");
  RUN(launch());
  RUN(cuMemcpyHtoD_v2(device, (void *)(uintptr_t)m, 4));
  RUN(cuMemcpyDtoH_v2(&back, device, 4));
  printf("copied from it: %u\n", back);
  RUN(launch());
  RUN(cuMemcpyDtoH_v2((void *)(uintptr_t)(m + 10), device, 4));
  printf("copied to it: %s\n", m[10] == back ? "yes" : "no");
  RUN(cuCtxSynchronize());
  printf("after three kernels: %u\n", m[0]);
}

int main(void) {
  void *context, *module;
  uint64_t memory;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&add, module, "add"));
  RUN(cuStreamCreate(&stream, 0)); /* copies without a stream wait for it */
  RUN(cuMemAllocManaged(&memory, BYTES, 1));
  m = (unsigned *)(uintptr_t)memory;
  both();
  two_threads(context);
  system_call();
  host_function();
  calls();
  RUN(launch());
  RUN(cuMemFree_v2(memory));
  RUN(cuMemAllocManaged(&memory, BYTES, 1));
  m = (unsigned *)(uintptr_t)memory;
  printf("allocated again: %u\n", behind());
  return 0;
}
