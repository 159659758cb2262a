# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets the variables
# TRICO, the triangle count of Polak (2015): a graph of preferential attachment with 300,000 nodes and 9.6 million directed
# edges, made by the application's own generator; --input takes another graph in its binary form.
build_application() {
  is_source main.cpp gpu-thrust.cu create-barabasi-albert-main.cpp
  need g++ "Debian: apt install g++"
  need make "Debian: apt install make"
  cp -R "$source/." "$out/source"
  # Thrust of CUDA 13 no longer has thrust::identity, and no longer includes remove.h elsewhere.
  cat >"$out/source/for-cuda-13.h" <<'END'
#if __CUDACC_VER_MAJOR__ >= 13
#include <thrust/remove.h>
namespace thrust {
template <typename T>
struct identity {
  __host__ __device__ T operator()(const T &value) const { return value; }
};
}  // namespace thrust
#endif
END
  make -B -C "$out/source" -j "$jobs" NVCC=nvcc "NVCCFLAGS=-arch=$arch -O3 -include for-cuda-13.h" \
    main.e create-barabasi-albert-main.e
  if [ -n "$input" ]; then
    cp "$input" "$out/graph"
  else
    "$out/source/create-barabasi-albert-main.e" 16 "${GRAFT_TRICO_NODES:-300000}" "$out/graph"
  fi
  runner <<'END'
exec source/main.e graph 2>&1
END
}
