/* Textures on linear and pitched memory: they may be longer than the memory, as NVIDIA's driver lets them be, but they begin in it. */
#include <stdint.h>
#include <string.h>

#include "check.h"

/* CUDA_RESOURCE_DESC */
struct resource {
  int type;
  uint64_t memory;
  unsigned format, channels;
  size_t size_or_width, height, pitch, room[12];
};
_Static_assert(sizeof(struct resource) == 144, "as in cuda.h");
enum { LINEAR = 2, PITCHED = 3, FLOAT = 0x20, ELEMENTS = 1000 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuTexObjectCreate(uint64_t *texture, const struct resource *resource, const void *sampling, const void *view);
int cuTexObjectDestroy(uint64_t texture);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 texture, .param .u64 out, .param .u32 at) {\n"
    "  .reg .b64 %t, %o; .reg .b32 %x; .reg .f32 %f<4>;\n"
    "  ld.param.u64 %t, [texture]; ld.param.u64 %o, [out]; ld.param.u32 %x, [at]; cvta.to.global.u64 %o, %o;\n"
    "  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%x}];\n"
    "  st.global.f32 [%o], %f0; ret;\n}\n";

int main(void) {
  void *context, *module, *fetch;
  uint64_t memory, out, texture;
  float values[ELEMENTS], found;
  uint8_t sampling[104] = {0};
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&fetch, module, "fetch"));
  RUN(cuMemAlloc_v2(&memory, sizeof values));
  RUN(cuMemAlloc_v2(&out, sizeof found));
  for (int i = 0; i < ELEMENTS; i++) values[i] = (float)i;
  RUN(cuMemcpyHtoD_v2(memory, values, sizeof values));

  struct resource resource = {.type = LINEAR, .memory = memory, .format = FLOAT, .channels = 1, .size_or_width = 2 * sizeof values};
  RUN(cuTexObjectCreate(&texture, &resource, sampling, NULL));
  unsigned at = ELEMENTS - 1;
  void *parameters[] = {&texture, &out, &at};
  RUN(cuLaunchKernel(fetch, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
  RUN(cuCtxSynchronize());
  RUN(cuMemcpyDtoH_v2(&found, out, sizeof found));
  RUN(cuTexObjectDestroy(texture));
  printf("longer than its memory: %g\n", found);

  resource = (struct resource){.type = PITCHED, .memory = memory, .format = FLOAT, .channels = 1, .size_or_width = 64, .height = 64, .pitch = 512};
  RUN(cuTexObjectCreate(&texture, &resource, sampling, NULL));
  RUN(cuTexObjectDestroy(texture));
  puts("more rows than its memory: made");

  RUN(cuMemFree_v2(memory));
  printf("memory that was freed: %d\n", cuTexObjectCreate(&texture, &resource, sampling, NULL));
  return 0;
}
