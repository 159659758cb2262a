// The first kernels that the software device must run.

extern "C" __global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void reduce(const int *in, int *out, int n) {
  extern __shared__ int partial[];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step) partial[t] += partial[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, partial[0]);
}

constexpr int kTile = 16;

extern "C" __global__ void matrixMultiply(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[kTile][kTile];
  __shared__ float tileB[kTile][kTile];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tileA[y][x] = a[row * n + k + x];
    tileB[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < kTile; j++) sum += tileA[y][j] * tileB[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
