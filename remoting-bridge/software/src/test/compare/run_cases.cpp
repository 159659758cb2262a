// Runs the cases that CompareMain wrote on a GPU, with the driver API alone: run_cases FOLDER [PART OF].
// PART OF runs every OF-th module of random kernels, so that several processes share the work.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <cuda.h>

#define CHECK(call)                                                       \
  do {                                                                    \
    CUresult r_ = (call);                                                 \
    if (r_) {                                                             \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, r_); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

constexpr int kRows = 2048, kOutput = 2 * 64 * 32;

static std::string read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

static void launch(CUmodule module, const std::string &name, int grid, int block, CUdeviceptr in, CUdeviceptr out) {
  CUfunction f;
  CHECK(cuModuleGetFunction(&f, module, name.c_str()));
  void *arguments[] = {&in, &out};
  CHECK(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, 0, arguments, nullptr));
  CHECK(cuCtxSynchronize());
}

/* LEVEL in the environment: how much ptxas optimizes, 0 to 4. */
static CUresult load(CUmodule *module, const std::string &ptx) {
  const char *level = std::getenv("LEVEL");
  CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
  void *value = reinterpret_cast<void *>(level ? std::atol(level) : 4);
  return cuModuleLoadDataEx(module, ptx.c_str(), 1, &option, &value);
}

int main(int argc, char **argv) {
  std::string folder = argv[1];
  int part = argc > 3 ? std::atoi(argv[2]) : 0, of = argc > 3 ? std::atoi(argv[3]) : 1;
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUdeviceptr in, out;
  if (part == 0) {
    std::string operands = read(folder + "/operands.bin");
    CHECK(cuMemAlloc(&in, operands.size()));
    CHECK(cuMemcpyHtoD(in, operands.data(), operands.size()));
    CHECK(cuMemAlloc(&out, kRows * 8));
    CUmodule module;
    std::vector<char> log(1 << 16);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), (void *)log.size()};
    CUresult r = cuModuleLoadDataEx(&module, read(folder + "/cases.ptx").c_str(), 2, options, values);
    if (r) {
      std::fprintf(stderr, "cases.ptx: %d\n%s\n", r, log.data());
      return 1;
    }
    std::ifstream list(folder + "/cases.txt");
    // Goes on where native.bin ends, so that a form that faults does not take the others with it.
    size_t done = read(folder + "/native.bin").size() / (kRows * 8);
    std::ofstream results(folder + "/native.bin", std::ios::binary | std::ios::app);
    std::string name;
    int set;
    std::vector<char> host(kRows * 8);
    while (list >> name >> set) {
      if (done > 0) {
        done--;
        continue;
      }
      if (std::getenv("CASES")) std::fprintf(stderr, "%s\n", name.c_str());
      launch(module, name, kRows / 128, 128, in + (size_t)set * kRows * 24, out);
      CHECK(cuMemcpyDtoH(host.data(), out, host.size()));
      results.write(host.data(), host.size()).flush();
    }
  }
  std::vector<uint32_t> input(256);
  for (int i = 0; i < 256; i++) input[i] = (uint32_t)(i * 2654435761ull);
  CHECK(cuMemAlloc(&in, 1024));
  CHECK(cuMemcpyHtoD(in, input.data(), 1024));
  CHECK(cuMemAlloc(&out, kOutput));
  for (int m = part;; m += of) {
    std::string ptx = read(folder + "/random" + std::to_string(m) + ".ptx");
    if (ptx.empty()) break;
    CUmodule module;
    CHECK(load(&module, ptx));
    FILE *hashes = std::fopen((folder + "/native-random" + std::to_string(m) + ".txt").c_str(), "w");
    std::vector<unsigned char> host(kOutput);
    for (int k = 0; k < 100; k++) {
      launch(module, "r" + std::to_string(k), 2, 64, in, out);
      CHECK(cuMemcpyDtoH(host.data(), out, kOutput));
      uint64_t hash = 0xcbf29ce484222325ull;
      for (unsigned char b : host) hash = (hash ^ b) * 0x100000001b3ull;
      std::fprintf(hashes, "%016llx\n", (unsigned long long)hash);
    }
    std::fclose(hashes);
    CHECK(cuModuleUnload(module));
  }
  return 0;
}
