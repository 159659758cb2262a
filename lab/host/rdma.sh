# shellcheck shell=bash
# What the tests over soft RoCE share: UCX's settings, and the verification program over a channel. Read by others, which set
# $work, the folder of their token.
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

# The middle one of those that there are.
median() { printf '%s\n' "$@" | grep '[0-9]' | sort -g | awk '{all[NR] = $1} END {print all[int((NR + 1) / 2)]}'; }

# To the mean of those that there are.
ratio() { # figure, references
  awk 'BEGIN {
    for (i = 2; i < ARGC; i++) if (ARGV[i] > 0) {sum += ARGV[i]; n++}
    if (ARGV[1] > 0 && n) printf "%.2f\n", ARGV[1] * n / sum; else print "-"
  }' "$@"
}
