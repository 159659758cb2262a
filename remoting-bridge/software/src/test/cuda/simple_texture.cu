// Textures: 2D rotation with linear filtering, 1D fetches, 3D and layered textures, address modes, cube maps, sRGB.
#include <vector>
#include "check.h"

__global__ void rotate(float *out, int width, int height, float theta, cudaTextureObject_t texture) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
  float tu = u * cosf(theta) - v * sinf(theta) + 0.5f, tv = v * cosf(theta) + u * sinf(theta) + 0.5f;
  out[y * width + x] = tex2D<float>(texture, tu, tv);
}

__global__ void points(float *out, cudaTextureObject_t linear, cudaTextureObject_t volume, cudaTextureObject_t layers,
                       cudaTextureObject_t bytes) {
  int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(linear, i);
  out[32 + i] = tex3D<float>(volume, (i & 3) + 0.5f, (i >> 2 & 3) + 0.5f, (i >> 4 & 3) + 0.5f);
  out[64 + i] = tex2DLayered<float>(layers, (i & 3) + 0.5f, (i >> 2 & 3) + 0.5f, i >> 4);
  out[96 + i] = tex2D<float>(bytes, (i & 3) + 0.5f, (i >> 2 & 3) + 0.5f);
  out[128 + i] = tex3D<float>(volume, (i & 3) + 1.0f, 1.5f, 1.5f); // between texels
}

// The middle of a texel of each face: the directions in which a viewer in the cube sees it.
__device__ float3 direction(int face, float s, float t) {
  switch (face) {
    case 0: return make_float3(1, -t, -s);
    case 1: return make_float3(-1, -t, s);
    case 2: return make_float3(s, 1, t);
    case 3: return make_float3(s, -1, -t);
    case 4: return make_float3(s, -t, 1);
    default: return make_float3(-s, -t, -1);
  }
}

__global__ void faces(float *out, cudaTextureObject_t cube, cudaTextureObject_t cubes, cudaTextureObject_t colours) {
  int i = threadIdx.x, face = i >> 4;
  float3 at = direction(face, ((i & 3) + 0.5f) / 2 - 1, ((i >> 2 & 3) + 0.5f) / 2 - 1);
  out[i] = texCubemap<float>(cube, 3 * at.x, 3 * at.y, 3 * at.z);
  out[96 + i] = texCubemapLayered<float>(cubes, at.x, at.y, at.z, 1);
  if (i < 16) {
    float4 colour = tex2D<float4>(colours, (i & 3) + 0.5f, (i >> 2) + 0.5f);
    out[192 + i] = colour.x, out[208 + i] = colour.w;
  }
}

static float reference(const std::vector<float> &image, int width, int height, float u, float v) {
  float x = u * width - 0.5f, y = v * height - 0.5f;
  auto wrap = [](int i, int n) { return ((i % n) + n) % n; };
  int i = (int)floorf(x), j = (int)floorf(y);
  float a = x - i, b = y - j;
  auto at = [&](int p, int q) { return image[wrap(q, height) * width + wrap(p, width)]; };
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
}

static cudaTextureObject_t textureOf(cudaResourceDesc &resource, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                                     bool normalized, cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc desc = {};
  for (auto &m : desc.addressMode) m = mode;
  desc.filterMode = filter;
  desc.readMode = read;
  desc.normalizedCoords = normalized;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr));
  return object;
}

static cudaArray_t array3D(const float *from, int n, int depth, unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t made;
  cudaExtent extent = make_cudaExtent(n, n, depth);
  CHECK(cudaMalloc3DArray(&made, &format, extent, flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)from, n * sizeof(float), n, n);
  copy.dstArray = made;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return made;
}

int main() {
  const int width = 64, height = 32;
  std::vector<float> image(width * height), out(width * height);
  for (int i = 0; i < width * height; i++) image[i] = (i % width) * 0.25f + (i / width) * 0.5f;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t wrapped = textureOf(resource, cudaAddressModeWrap, cudaFilterModeLinear, true);
  float *result = deviceArray<float>(width * height);
  const float theta = 0.5f;
  rotate<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(result, width, height, theta, wrapped);
  CHECK(cudaGetLastError());
  download(out.data(), result, width * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
      float tu = u * cosf(theta) - v * sinf(theta) + 0.5f, tv = v * cosf(theta) + u * sinf(theta) + 0.5f;
      float expected = reference(image, width, height, tu, tv);
      // Weights have 8 bits, and neighbours across the edge differ by up to 32.
      EXPECT(fabsf(out[y * width + x] - expected) < 0.3f, "(%d,%d): %g, not %g", x, y, out[y * width + x], expected);
    }
  }

  float line[32], cube[64], sheets[32];
  unsigned char small[16];
  for (int i = 0; i < 32; i++) line[i] = i * 3.0f, sheets[i] = 100.0f + i;
  for (int i = 0; i < 64; i++) cube[i] = i * 2.0f;
  for (int i = 0; i < 16; i++) small[i] = (unsigned char)(i * 17);
  cudaResourceDesc linear = {}, volume = {}, layers = {}, bytes = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = upload(line, 32);
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = sizeof line;
  volume.resType = layers.resType = bytes.resType = cudaResourceTypeArray;
  volume.res.array.array = array3D(cube, 4, 4, 0);
  layers.res.array.array = array3D(sheets, 4, 2, cudaArrayLayered);
  cudaChannelFormatDesc byteFormat = cudaCreateChannelDesc<unsigned char>();
  CHECK(cudaMallocArray(&bytes.res.array.array, &byteFormat, 4, 4));
  CHECK(cudaMemcpy2DToArray(bytes.res.array.array, 0, 0, small, 4, 4, 4, cudaMemcpyHostToDevice));
  cudaTextureObject_t a = textureOf(linear, cudaAddressModeClamp, cudaFilterModePoint, false);
  cudaTextureObject_t b = textureOf(volume, cudaAddressModeClamp, cudaFilterModeLinear, false);
  cudaTextureObject_t c = textureOf(layers, cudaAddressModeClamp, cudaFilterModePoint, false);
  cudaTextureObject_t d =
      textureOf(bytes, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
  points<<<1, 32>>>(result, a, b, c, d);
  CHECK(cudaGetLastError());
  download(out.data(), result, 160);
  for (int i = 0; i < 32; i++) {
    EXPECT(out[i] == line[i], "%d: %g", i, out[i]);
    EXPECT(out[32 + i] == cube[i], "%d: %g, not %g", i, out[32 + i], cube[i]);
    EXPECT(out[64 + i] == sheets[i], "%d: %g", i, out[64 + i]);
    EXPECT(fabsf(out[96 + i] - small[i & 15] / 255.0f) < 1e-6f, "%d: %g", i, out[96 + i]);
    float middle = 2.0f * (20 + ((i & 3) < 3 ? (i & 3) + 0.5f : 3));
    EXPECT(fabsf(out[128 + i] - middle) < 0.01f, "%d: %g, not %g", i, out[128 + i], middle);
  }
  float sides[192];
  for (int i = 0; i < 192; i++) sides[i] = i + 0.5f;
  uchar4 colours[16];
  for (int i = 0; i < 16; i++) colours[i] = make_uchar4(i * 17, 0, 255, i * 17);
  cudaResourceDesc cubeMap = {}, cubeMaps = {}, picture = {};
  cubeMap.resType = cubeMaps.resType = picture.resType = cudaResourceTypeArray;
  cubeMap.res.array.array = array3D(sides, 4, 6, cudaArrayCubemap);
  cubeMaps.res.array.array = array3D(sides, 4, 12, cudaArrayCubemap | cudaArrayLayered);
  cudaChannelFormatDesc colourFormat = cudaCreateChannelDesc<uchar4>();
  CHECK(cudaMallocArray(&picture.res.array.array, &colourFormat, 4, 4));
  CHECK(cudaMemcpy2DToArray(picture.res.array.array, 0, 0, colours, 16, 16, 4, cudaMemcpyHostToDevice));
  cudaTextureObject_t e = textureOf(cubeMap, cudaAddressModeClamp, cudaFilterModePoint, true);
  cudaTextureObject_t f = textureOf(cubeMaps, cudaAddressModeClamp, cudaFilterModePoint, true);
  cudaTextureDesc srgb = {};
  srgb.readMode = cudaReadModeNormalizedFloat;
  srgb.sRGB = 1;
  cudaTextureObject_t g;
  CHECK(cudaCreateTextureObject(&g, &picture, &srgb, nullptr));
  faces<<<1, 96>>>(result, e, f, g);
  CHECK(cudaGetLastError());
  download(out.data(), result, 224);
  for (int i = 0; i < 96; i++) {
    EXPECT(out[i] == sides[i], "face %d, texel %d: %g, not %g", i / 16, i % 16, out[i], sides[i]);
    EXPECT(out[96 + i] == sides[96 + i], "layered face %d, texel %d: %g", i / 16, i % 16, out[96 + i]);
  }
  for (int i = 0; i < 16; i++) {
    double value = i / 15.0, light = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    EXPECT(fabs(out[192 + i] - light) < 0.004, "sRGB %d: %g, not %g", i, out[192 + i], light);
    EXPECT(fabs(out[208 + i] - value) < 1e-6, "alpha %d: %g", i, out[208 + i]);
  }
  for (cudaTextureObject_t object : {wrapped, a, b, c, d, e, f, g}) CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeArray(array));
  return finish();
}
