# shellcheck shell=bash
# Shared by the scripts in this folder, which source it: options, a working folder, a server with a token, programs over its
# channels, and results.

die() {
  echo "${0##*/}: $*" >&2
  exit 2
}

# options "NAME... FLAG:..." ARGUMENT...: sets the variable NAME for each --NAME VALUE, and FLAG to "yes" for each --FLAG.
options() {
  local options=" $1 " name
  shift
  while [ $# -gt 0 ]; do
    name=${1#--}
    case $1:$options in
      --*" $name: "*) printf -v "$name" yes ;;
      --*" $name "*)
        [ $# -gt 1 ] || die "$1 lacks its value"
        printf -v "$name" %s "$2"
        shift
        ;;
      *) die "unknown option $1" ;;
    esac
    shift
  done
}

# shellcheck source=results.sh
. "${BASH_SOURCE[0]%/*}/results.sh"

# begin DISTRIBUTION: makes the folder $work, which is deleted at the end except for $out ($work/results, unless an option names
# another folder); sets $root to the distribution, which is unpacked if it is a file; makes the token of "check", for server and client.
begin() {
  work=$(mktemp -d)
  chmod 711 "$work"
  trap finish EXIT
  out=${out:-$work/results}
  mkdir -p "$out"
  results=$out/results.jsonl
  rm -f "$results"
  if [ -d "$1" ]; then
    root=$(cd "$1" && pwd)
  else
    mkdir "$work/dist"
    tar -xzf "$1" -C "$work/dist" || die "cannot unpack $1"
    root=$work/dist/graft
  fi
  [ -x "$root/bin/graft" ] || die "there is no bin/graft in $1"
  local token
  token=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
  (umask 077 && echo "$token" >"$work/token" && echo "check $token" >"$work/tokens")
}

# share_region: gives the client a file as the memory that a guest shares with its server, and as the guest's device: channel ivshmem.
share_region() {
  local device=$work/devices/0000:00:05.0
  (umask 077 && : >"$work/region")
  truncate -s 2G "$work/region" # takes room only as it is used
  sed -i "s|\$| region=$work/region|" "$work/tokens"
  mkdir -p "$device"
  echo 0x1af4 >"$device/vendor"
  echo 0x1110 >"$device/device"
  ln -s "$work/region" "$device/resource2"
  export GRAFT_PCI_DEVICES=$work/devices
}

finish() {
  stop_server
  find "$work" -mindepth 1 -maxdepth 1 ! -name results -exec rm -rf {} +
  rmdir -- "$work/results" "$work" 2>/dev/null
}

# serve_named NAME ARGUMENT...: starts a server on a Unix socket and a port, with the tokens of $tokens ($work/tokens), and waits until it
# serves at ${tcps[NAME]} and ${sockets[NAME]}. Its process is ${server_pids[NAME]}, its log $out/NAME.log.
declare -A server_pids sockets tcps
serve_named() {
  local name=$1 log=$out/$1.log
  shift
  sockets[$name]=$work/$name.sock
  "$root/bin/graft" serve --listen "unix://${sockets[$name]}" --listen tcp://127.0.0.1:0 --tokens "${tokens:-$work/tokens}" "$@" \
    >"$log" 2>&1 &
  server_pids[$name]=$!
  for _ in $(seq 900); do
    tcps[$name]=$(sed -n 's/^serves at \(tcp:.*\)/\1/p' "$log")
    [ -z "${tcps[$name]}" ] || return 0
    kill -0 "${server_pids[$name]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "${0##*/}: the server $name did not start: $(tail -n 3 "$log" | tr '\n' ' ')" >&2
  stop_server
  return 1
}

# stop_server: stops all servers.
stop_server() {
  local name
  for name in "${!server_pids[@]}"; do
    kill "${server_pids[$name]}" 2>/dev/null
    wait "${server_pids[$name]}" 2>/dev/null
  done
  server_pids=()
}

# start_server ARGUMENT...: starts the server of scripts that have one; it serves at $tcp and $socket.
start_server() {
  serve_named server "$@" || return 1
  # shellcheck disable=SC2034 # for the script that sources this file
  server=${server_pids[server]} socket=${sockets[server]} tcp=${tcps[server]}
}

# over CHANNEL COMMAND...: runs a program over a channel or at an address of the server; "native" runs it on this machine's own driver.
over() {
  local url=$1
  shift
  case $url in
    native)
      "$@"
      return
      ;;
    tcp) url=$tcp ;;
    rdma | ivshmem) url=$url:${tcp#tcp:} ;;
    *://*) ;;
    *) url=$url://$socket ;;
  esac
  GRAFT_SERVER=$url GRAFT_NAME=check GRAFT_TOKEN_FILE=$work/token \
    LD_LIBRARY_PATH=$root/lib/client${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"
}

# The settings to compare: native first, if there is a driver.
settings() { # device, channels
  [ "$1" = software ] || printf 'native '
  echo "$2"
}

summarize() { # options of bench summarize
  "$root/bin/graft" bench summarize "$@" "$results"
}

# Prints facts about the machine.
machine() {
  echo "date: $(date -u +%F)"
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/gpu: /'
  echo "cpus: $(nproc), $(uname -sr)"
}
