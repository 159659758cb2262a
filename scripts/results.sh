# shellcheck shell=bash
# Writes results in Graft's common format, for `graft bench summarize`. Sourced by the scripts in this folder and, as a copy, by the
# lab's tests.

# record SETTING NAME SIZE UNIT SAMPLE [STATE]: adds a sample to the file $results; an empty sample stands for a failure.
record() {
  # shellcheck disable=SC2154 # set by the script that sources this file
  printf '{"setting":"%s","name":"%s","size":%s,"unit":"%s","state":"%s","samples":[%s]}\n' "$1" "$2" "$3" "$4" "${6:-warm}" "${5:-null}" \
    >>"$results"
}

# MB/s, converted from the MiB/s in the last line of ucx_perftest.
ucx_rate() { awk '$1 == "Final:" {printf "%.1f", $7 * 1.048576}'; }
