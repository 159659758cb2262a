# shellcheck shell=bash
# What the tests over soft RoCE share: UCX's settings, the verification program over a channel, and results. Read by others, which set
# $work, the folder of their token.
# shellcheck source=../../scripts/results.sh
. "$here/results.sh"
client=/opt/graft/lib/client
port=7799

# UCX would take the host's memory where both ends are on one host. rxe puts the header of IPv4 elsewhere than adapters do,
# and UCX takes its datagrams for a stranger's. Its reads are slow, so whoever sends also writes.
export UCX_NET_DEVICES=rxe0:1 UCX_TLS=rc_verbs,ud_verbs:aux UCX_UD_VERBS_ETH_DGID_CHECK=n UCX_RNDV_SCHEME=put_zcopy

# Makes the token of "lab": stays in $token, and in the server's file.
new_token() {
  token=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
  (umask 077 && echo "lab $token" >"$work/tokens")
}

# Has the program use a token.
use_token() { # token
  (umask 077 && echo "$1" >"$work/token")
}

# The CUDA program that `graft verify` runs in guests, over a channel: address, the program's options.
over() {
  local server=$1
  shift
  GRAFT_SERVER=$server GRAFT_NAME=lab GRAFT_TOKEN_FILE=$work/token LD_LIBRARY_PATH=$client${more_libraries:+:$more_libraries} \
    stdbuf -oL "$client/graft-verify" "$@"
}

value() { # key: of what the program printed into $out
  sed -n "s/^$1=//p" <<<"$out" | head -n 1
}

# The figure of the program's last run into $out, as a sample: MB/s.
record_copies() { # setting, keys of the program, MiB
  local key
  for key in $2; do record "$1" "$key" $(($3 << 20)) MB/s "$(value "${key}_mb_s")"; done
}

# What the tools just carried, as samples of each figure that is compared with them: MiB, keys, then tools and their MB/s in turns.
record_tools() {
  local size=$1 keys=$2 key
  shift 2
  while [ $# -gt 0 ]; do
    for key in $keys; do record "$1" "$key" $((size << 20)) MB/s "$2"; done
    shift 2
  done
}
