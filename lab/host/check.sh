# shellcheck shell=bash
# Checks that count themselves, for the tests in the lab. Read by others.

good=0 bad=0
log=/var/log/graft-test.log
: >>"$log"

now() { date +%s.%N; }

# Says what came of a check: name, "" or what is wrong, seconds. The log of what ran is shown with the first failures.
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

# same WHAT BEFORE AFTER: two files hold the same.
same() {
  local difference
  difference=$(diff "$2" "$3") && difference=''
  printf '== %s\n%s\n' "$1" "$difference" >>"$log"
  verdict "$1" "${difference:+$(grep -c '^[<>]' <<<"$difference") lines differ}"
}

within() { # seconds, command: until it succeeds
  local last=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$last" ] || return
    sleep 0.2
  done
}

# Whether a process has ended: its number.
ended() { ! kill -0 "$1" 2>/dev/null; }

# shellcheck disable=SC2154 # $graft, and $server below, are those of whoever reads this
# The process of a set-up's server on this host: its descriptor.
server_of() { "$graft" status "$1" | sed -n 's/.*server running (process \([0-9]*\)).*/\1/p'; }

# How many sessions the server $server has, those ready for more counted too.
# shellcheck disable=SC2154
workers() { pgrep -c -P "$server"; }
as_many_workers() { [ "$(workers)" = "$1" ]; }
more_workers() { [ "$(workers)" -gt "$1" ]; }

tally() {
  echo "$good as expected, $bad not"
  [ "$bad" = 0 ]
}
