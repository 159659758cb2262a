// Arrays, textures and surfaces of CUDA's runtime, as far as the programs use them.
#pragma once
#include <type_traits>
#include "copies.h"

extern "C" {
int cuArray3DCreate_v2(void **, const void *);
int cuArrayDestroy(void *);
int cuMemcpy3D_v2(const void *);
int cuTexObjectCreate(unsigned long long *, const void *, const void *, const void *);
int cuTexObjectDestroy(unsigned long long);
int cuSurfObjectCreate(unsigned long long *, const void *);
int cuSurfObjectDestroy(unsigned long long);
}

typedef struct CUarray_st *cudaArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum { cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4 };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum { cudaResourceTypeArray = 0, cudaResourceTypeLinear = 2 };

struct cudaChannelFormatDesc { int format; unsigned channels, bytes; }; // CUarray_format, and what a texel has
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void *ptr; size_t pitch, width, height; };
struct cudaMemcpy3DParms { cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaExtent extent; cudaMemcpyKind kind; };
struct cudaResourceDesc {
  int resType;
  struct {
    struct { cudaArray_t array; } array;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB, normalizedCoords;
};
struct uchar4 { unsigned char x, y, z, w; };
struct int4 { int x, y, z, w; };
inline uchar4 make_uchar4(int x, int y, int z, int w) {
  return {(unsigned char)x, (unsigned char)y, (unsigned char)z, (unsigned char)w};
}
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t width, size_t height) { return {p, pitch, width, height}; }

template <typename T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  if (std::is_same<T, float>::value) return {0x20, 1, 4};
  if (std::is_same<T, int4>::value) return {0x0a, 4, 16};
  if (std::is_same<T, uchar4>::value) return {0x01, 4, 4};
  static_assert(std::is_same<T, float>::value || std::is_same<T, int4>::value || std::is_same<T, uchar4>::value ||
                std::is_same<T, unsigned char>::value, "a format that no program has used so far");
  return {0x01, 1, 1};
}

inline cudaError_t cudaMalloc3DArray(cudaArray_t *made, const cudaChannelFormatDesc *format, cudaExtent extent, unsigned flags = 0) {
  struct { // CUDA_ARRAY3D_DESCRIPTOR
    cudaExtent extent;
    int format;
    unsigned channels, flags;
  } wanted = {extent, format->format, format->channels, flags};
  return driver(cuArray3DCreate_v2, (void **)made, (const void *)&wanted);
}
inline cudaError_t cudaMallocArray(cudaArray_t *made, const cudaChannelFormatDesc *format, size_t width, size_t height, unsigned flags = 0) {
  return cudaMalloc3DArray(made, format, {width, height, 0}, flags);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) { return driver(cuArrayDestroy, (void *)array); }

inline cudaError_t copyToArray(cudaArray_t to, const void *from, size_t pitch, size_t rows, size_t bytes, size_t height, size_t depth) {
  Copy3D copy = {};
  copy.from.type = 1;
  copy.from.host = from;
  copy.from.pitch = pitch;
  copy.from.height = rows;
  copy.to.type = 3;
  copy.to.array = to;
  copy.width = bytes;
  copy.height = height;
  copy.depth = depth;
  return driver(cuMemcpy3D_v2, (const void *)&copy);
}
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t, size_t, const void *from, size_t pitch, size_t width, size_t height, cudaMemcpyKind) {
  return copyToArray(to, from, pitch, height, width, height, 1);
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
  size_t texel = p->srcPtr.pitch / p->srcPtr.width;
  return copyToArray(p->dstArray, p->srcPtr.ptr, p->srcPtr.pitch, p->srcPtr.height, p->extent.width * texel, p->extent.height, p->extent.depth);
}

struct DriverResource { // CUDA_RESOURCE_DESC
  int type;
  union {
    void *array;
    struct { void *p; int format; unsigned channels; size_t bytes; } linear;
    int reserved[32];
  };
  unsigned flags;
  explicit DriverResource(const cudaResourceDesc &r) : type(r.resType), reserved{}, flags(0) {
    if (type == cudaResourceTypeLinear) {
      linear = {r.res.linear.devPtr, r.res.linear.desc.format, r.res.linear.desc.channels, r.res.linear.sizeInBytes};
    } else {
      array = r.res.array.array;
    }
  }
};
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *made, const cudaResourceDesc *resource, const cudaTextureDesc *texture, const void *) {
  struct { // CUDA_TEXTURE_DESC
    int addressMode[3], filter;
    unsigned flags, anisotropy;
    int mipmapFilter;
    float bias, least, most, border[4];
    int reserved[12];
  } desc = {};
  for (int i = 0; i < 3; i++) desc.addressMode[i] = texture->addressMode[i];
  desc.filter = texture->filterMode;
  desc.flags = (texture->readMode == cudaReadModeElementType ? 1 : 0) | (texture->normalizedCoords ? 2 : 0) | (texture->sRGB ? 0x10 : 0);
  DriverResource from(*resource);
  return driver(cuTexObjectCreate, made, (const void *)&from, (const void *)&desc, (const void *)nullptr);
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { return driver(cuTexObjectDestroy, object); }
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *made, const cudaResourceDesc *resource) {
  DriverResource from(*resource);
  return driver(cuSurfObjectCreate, made, (const void *)&from);
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return driver(cuSurfObjectDestroy, object); }
