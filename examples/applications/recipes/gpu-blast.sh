# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets the variables
# GPU-BLAST: its own installer downloads and changes NCBI-BLAST and asks questions, so that SOURCE is the folder where that
# installer has built blastp. --input is a FASTA file of proteins, which is also searched for its own first sequence.
build_application() {
  local blastp makeblastdb
  blastp=$(find "$source" -type f -name blastp -perm -u+x | head -n 1)
  makeblastdb=$(find "$source" -type f -name makeblastdb -perm -u+x | head -n 1)
  if [ -z "$blastp" ] || [ -z "$makeblastdb" ]; then
    die "there are no programs blastp and makeblastdb below $source: run GPU-BLAST's own installer there first"
  fi
  [ -n "$input" ] || die "gpu-blast has no data of its own: name a FASTA file of proteins with --input"
  "$blastp" -help | grep -q -- -gpu || die "$blastp has no option -gpu: it is NCBI's own, not GPU-BLAST's"
  mkdir "$out/database"
  cp "$blastp" "$out/blastp"
  "$makeblastdb" -in "$input" -dbtype prot -out "$out/database/proteins" -sort_volumes
  awk '/^>/ && ++n > 1 { exit } { print }' "$input" >"$out/query"
  # Method 2 writes the form of the database that the GPU searches.
  "$out/blastp" -db "$out/database/proteins" -query "$out/query" -gpu t -method 2 >/dev/null
  runner <<'END'
exec ./blastp -db database/proteins -query query -gpu t
END
}
