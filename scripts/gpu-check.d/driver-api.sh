# shellcheck shell=bash
# Compares the output of driver-api.cu natively and over each channel, by groups of the driver API. Sourced by gpu-check.

# driver_api_table FOLDER_OF_THE_SCRIPT WORK_FOLDER CLIENT_FOLDER OUT_FOLDER WAY...
driver_api_table() {
  local here=$1 work=$2 client=$3 out=$4
  shift 4
  if ! nvcc -O2 -std=c++17 -arch=native -o "$work/driver-api" "$here/gpu-check.d/driver-api.cu" -L"$client" -l:libcuda.so.1 > "$out/driver-api.log" 2>&1; then
    echo "no table of the driver API: $(tail -n 1 "$out/driver-api.log")" >&2
    return
  fi
  local group way cell text
  printf '\n| driver API |'; printf ' %s |' "$@"; printf '\n|---|'; printf -- '---|%.0s' "$@"; echo
  for group in $(over native "$work/driver-api"); do
    printf '| %s |' "$group"
    for way in "$@"; do
      mkdir -p "$out/$way"
      text=$out/$way/driver-api.$group.txt
      over "$way" timeout 60 "$work/driver-api" "$group" > "$text" 2> "$out/$way/driver-api.$group.log"
      echo "exit $?" >> "$text"
      if [ "$way" = native ]; then
        cell=$(tail -n 1 "$text")
      elif cmp -s "$out/native/driver-api.$group.txt" "$text"; then
        cell="as native"
      else
        cell="differs: $(diff "$out/native/driver-api.$group.txt" "$text" | grep -m 1 '^>' | cut -c3-100)"
      fi
      printf ' %s |' "$cell"
    done
    echo
  done
}
