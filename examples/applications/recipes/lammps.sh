# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets the variables
# LAMMPS with its GPU package: the Lennard-Jones melt of its own benchmarks with 864,000 atoms; --input takes another input.
build_application() {
  is_source cmake/CMakeLists.txt bench/in.lj
  need cmake "Debian: apt install cmake"
  need g++ "Debian: apt install g++"
  cmake -S "$source/cmake" -B "$out/build" -D CMAKE_BUILD_TYPE=Release -D BUILD_MPI=off \
    -D PKG_GPU=on -D GPU_API=cuda -D GPU_ARCH="$arch"
  cmake --build "$out/build" -j "$jobs"
  cp "${input:-$source/bench/in.lj}" "$out/in"
  runner <<'END'
exec build/lmp -sf gpu -pk gpu 1 -var x 3 -var y 3 -var z 3 -log none -in in
END
}
