# shellcheck shell=bash
# Functions for checks, which count the results. Sourced by the tests in the lab.

good=0 bad=0
log=${log:-/var/log/graft-test.log}
: >>"$log"

now() { date +%s.%N; }

# Prints the result of a check: name, "" or the error, seconds. With the first failures, the log of the command is shown.
verdict() {
  local what=$1 wrong=$2 seconds=${3:-}
  if [ -z "$wrong" ]; then
    good=$((good + 1))
    echo "ok      $what${seconds:+ ($seconds s)}"
  else
    bad=$((bad + 1))
    echo "FAILED  $what${seconds:+ ($seconds s)}: $wrong"
    [ "$bad" -gt 3 ] || tail -n 25 "$log" | sed 's/^/        | /'
  fi
}

# expect EXIT_CODE WHAT COMMAND...: runs it; its output goes to the log and stays in $out.
expect() {
  local code=$1 what=$2 seen=0 start wrong=''
  shift 2
  start=$(now)
  echo "== $what: $*" >>"$log"
  out=$("$@" 2>&1) || seen=$?
  printf '%s\n' "$out" >>"$log"
  [ "$seen" = "$code" ] || wrong="exit code $seen, not $code"
  verdict "$what" "$wrong" "$(awk "BEGIN {printf \"%.1f\", $(now) - $start}")"
  [ -z "$wrong" ]
}

# same WHAT BEFORE AFTER: checks that two files are equal.
same() {
  local difference
  difference=$(diff "$2" "$3") && difference=''
  printf '== %s\n%s\n' "$1" "$difference" >>"$log"
  verdict "$1" "${difference:+$(grep -c '^[<>]' <<<"$difference") lines differ}"
}

within() { # seconds, command: repeats the command until it succeeds
  local last=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$last" ] || return
    sleep 0.2
  done
}

# Whether the process with this number has ended.
ended() { ! kill -0 "$1" 2>/dev/null; }

# shellcheck disable=SC2154 # $graft, and $server below, are set by the script that sources this file
# The process of a deployment's server on this host, given the descriptor.
server_of() { "$graft" status "$1" | sed -n 's/.*server running (process \([0-9]*\)).*/\1/p'; }

# The number of workers of the server $server, spares included. $server is the server, whose starter is its child and
# whose workers are the starter's, or the starter itself.
# shellcheck disable=SC2154
workers() { pgrep -c -f -P "$server$(pgrep -P "$server" -x graft-starter | sed 's/^/,/')" WorkerMain; }
as_many_workers() { [ "$(workers)" = "$1" ]; }
more_workers() { [ "$(workers)" -gt "$1" ]; }

tally() {
  echo "$good as expected, $bad not"
  [ "$bad" = 0 ]
}
