# shellcheck shell=bash
# Shared by the tests over soft RoCE: UCX's settings, the verification program over a channel, and results. Sourced by the tests,
# which set $work, the folder of their token.
# shellcheck source=../../scripts/results.sh
. "$here/results.sh"
client=/opt/graft/lib/client
port=7799

# UCX would use shared memory if both ends are on one host. rxe places the IPv4 header at another offset than adapters do, so that
# UCX rejects its datagrams as foreign. RDMA reads are slow over rxe, so the sender writes.
export UCX_NET_DEVICES=rxe0:1 UCX_TLS=rc_verbs,ud_verbs:aux UCX_UD_VERBS_ETH_DGID_CHECK=n UCX_RNDV_SCHEME=put_zcopy

# Makes a token for "lab" and stores it in $token and in the server's file.
new_token() {
  token=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
  (umask 077 && echo "lab $token" >"$work/tokens")
}

# Makes the program use a token.
use_token() { # token
  (umask 077 && echo "$1" >"$work/token")
}

# Runs the CUDA program of `graft verify` over a channel: address, the program's options.
over() {
  local server=$1
  shift
  GRAFT_SERVER=$server GRAFT_NAME=lab GRAFT_TOKEN_FILE=$work/token LD_LIBRARY_PATH=$client${more_libraries:+:$more_libraries} \
    stdbuf -oL "$client/graft-verify" "$@"
}

value() { # key: its value in the program's output, $out
  sed -n "s/^$1=//p" <<<"$out" | head -n 1
}

# Records the figure of the program's last run, in $out, as a sample: MB/s.
record_copies() { # setting, keys of the program, MiB
  local key
  for key in $2; do record "$1" "$key" $(($3 << 20)) MB/s "$(value "${key}_mb_s")"; done
}

# Records the tools' last figures as samples of each figure that is compared with them: MiB, keys, then tools alternating with
# their MB/s.
record_tools() {
  local size=$1 keys=$2 key
  shift 2
  while [ $# -gt 0 ]; do
    for key in $keys; do record "$1" "$key" $((size << 20)) MB/s "$2"; done
    shift 2
  done
}
