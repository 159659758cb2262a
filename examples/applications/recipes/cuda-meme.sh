# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets the variables
# mCUDA-MEME for one GPU, without MPI: motifs in the DNA sequences of --input, a FASTA file.
build_application() {
  is_source Makefile.gpu
  need g++ "Debian: apt install g++"
  need make "Debian: apt install make"
  [ -n "$input" ] || die "cuda-meme has no data of its own: name a FASTA file of DNA sequences with --input"
  cp -R "$source/." "$out/source"
  make -B -C "$out/source" -f Makefile.gpu
  [ -x "$out/source/cuda-meme" ] || die "Makefile.gpu has made no program cuda-meme"
  cp "$input" "$out/sequences"
  runner <<'END'
exec source/cuda-meme sequences -dna -mod oops -text 2>&1
END
}
