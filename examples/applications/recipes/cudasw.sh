# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets the variables
# CUDASW++ 4: the queries that come with it against random sequences that it makes itself; --input takes a FASTA file of
# sequences instead.
build_application() {
  is_source src/cudasw4.cuh src/makedb.cpp Makefile allqueries.fasta
  need g++ "Debian: apt install g++"
  need make "Debian: apt install make"
  [ -e /usr/include/zlib.h ] || die "$name needs zlib.h (Debian: apt install zlib1g-dev)"
  cp -R "$source/." "$out/source"
  # The flags of its Makefile without -arch=native, which needs a GPU, and -lnvToolsExt, which CUDA 13 no longer has.
  local flags="-arch=$arch -lineinfo --expt-relaxed-constexpr -rdc=true --extended-lambda -Xcompiler=-fopenmp"
  make -B -C "$out/source" -j "$jobs" align NVCC_FLAGS="$flags"
  local database='--pseudodb 200000 512'
  if [ -n "$input" ]; then
    # As a file of CUDA: as one of C++ it does not compile with the headers of CUDA 13.
    # shellcheck disable=SC2086 # several flags
    (cd "$out/source" && nvcc -x cu $flags -std=c++17 -O3 -c src/makedb.cpp -o build/makedb.o &&
      nvcc $flags build/makedb.o build/sequence_io.o build/dbdata.o -o makedb -lz)
    mkdir "$out/database"
    "$out/source/makedb" "$input" "$out/database/sequences"
    database='--db database/sequences'
  fi
  runner <<END
exec source/align --query source/allqueries.fasta $database --top 1 --verbose --uploadFull --prefetchDBFile --mat blosum62
END
}
