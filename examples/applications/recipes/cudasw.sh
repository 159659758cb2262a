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
  make -B -C "$out/source" -j "$jobs" align makedb \
    "NVCC_FLAGS=-arch=$arch -lineinfo --expt-relaxed-constexpr -rdc=true --extended-lambda -Xcompiler=-fopenmp"
  local database='--pseudodb 200000 512'
  if [ -n "$input" ]; then
    mkdir "$out/database"
    "$out/source/makedb" "$input" "$out/database/sequences"
    database='--db database/sequences'
  fi
  runner <<END
exec source/align --query source/allqueries.fasta $database --top 1 --verbose --uploadFull --prefetchDBFile --mat blosum62
END
}
