# shellcheck shell=bash
# Results in Graft's one format, for `graft bench summarize`. Sourced by the scripts here and, beside them there, by the lab's tests.

# record SETTING NAME SIZE UNIT SAMPLE [STATE]: adds a sample to the file $results; an empty sample failed.
record() {
  # shellcheck disable=SC2154 # set by whoever sources this
  printf '{"setting":"%s","name":"%s","size":%s,"unit":"%s","state":"%s","samples":[%s]}\n' "$1" "$2" "$3" "$4" "${6:-warm}" "${5:-null}" \
    >>"$results"
}

# MB/s in the last line of ucx_perftest, which counts MiB.
ucx_rate() { awk '$1 == "Final:" {printf "%.1f", $7 * 1.048576}'; }
