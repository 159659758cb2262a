#!/bin/bash
# Prepares the requirements of `graft demo`, `graft test`, `graft build` and `graft lab`, runs them and cleans up.
#
#   ready.sh ROOT HOME demo|test|build|lab [--yes] [ARGUMENT...]
#
# ROOT is the checkout (empty in the distribution), HOME the folder that distribution/assemble.sh makes.
# Messages of this script go to stderr; stdout belongs to the command.
set -euo pipefail
export LC_ALL=C.UTF-8 PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

root=$1 home=$2 command=$3
shift 3
launcher=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case $command in
  build) parts=build ;;
  demo) parts='build guests' ;;
  test) parts='build guests tests' ;;
  *) parts='' ;;
esac
yes=false
rounds=1 # rounds of the lab's tests
arguments=()
for argument; do
  case $command:$argument in
    lab:*) arguments+=("$argument") ;; # lab.sh parses them
    *:--yes | *:-y) yes=true ;;
    test:--long)
      parts+=' cloud'
      export GRAFT_LONG_TESTS=all
      ;;
    test:--slurm)
      parts+=' slurm'
      export GRAFT_SLURM_TESTS=all
      ;;
    test:--lab | test:--lab=*)
      parts+=' lab'
      [ "$argument" = --lab ] || rounds=${argument#*=}
      ;;
    *) arguments+=("$argument") ;;
  esac
done
if [ "$(id -u)" = 0 ]; then
  cache=/var/cache/graft run=/run/graft
else
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/graft run=${XDG_RUNTIME_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}}/graft
fi
images=$home/lib/image
[ -z "$root" ] || images=$root/lab/image

say() { echo "graft: $*" >&2; }

# Reports a missing requirement of this machine and ends with the exit code that every command uses for it.
give_up() {
  say "$*"
  exit 4
}

. "$launcher/packages.sh"
. "$launcher/build.sh"
. "$launcher/libvirt.sh"
. "$launcher/image.sh"
. "$launcher/lab.sh"

# Runs a command and passes Ctrl-C and SIGTERM on to it, so that it can clean up; returns its exit code.
run_to_end() {
  local child code=0
  set -m # a separate process group, so that the command gets each signal once
  "$@" </dev/null &
  child=$!
  set +m
  trap 'kill -INT $child' INT
  trap 'kill -TERM $child' TERM HUP
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  trap - INT TERM HUP
  return "$code"
}

# Runs the demo, and removes its deployment even if the demo is interrupted.
run_demo() {
  local argument descriptor=$home/examples/demo.yaml keep=false code=0
  for argument in "${arguments[@]}"; do
    case $argument in
      *.yaml) descriptor=$argument ;;
      --keep) keep=true ;;
    esac
  done
  export GRAFT_READY=1
  # The first plan creates the class archive, which the demo should not measure.
  [ -f "$home/lib/graft.jsa" ] || "$home/bin/graft" plan "$descriptor" >/dev/null 2>&1 || true
  run_to_end "$home/bin/graft" demo "${arguments[@]}" || code=$?
  case $code:$keep in
    130:false | 143:false)
      say "taking the demo away"
      "$home/bin/graft" destroy "$descriptor" >&2 || true
      ;;
  esac
  return "$code"
}

# Prepares packages and, if this run includes it, the checkout's build.
make_ready() {
  need_packages
  [ -z "$root" ] || ! takes build || build_if_newer
}

if [ "$command" != demo ] && [ -z "$root" ]; then
  give_up "'$command' needs a checkout of the sources; this is the distribution"
fi
[ "$command" = lab ] || make_ready
case $command in
  build) ;;
  lab) run_lab "${arguments[@]}" ;;
  demo)
    ready_libvirt
    ready_image
    run_demo
    ;;
  test)
    ready_libvirt
    ready_image
    ! takes cloud || ready_cloud_image
    . "$launcher/test.sh"
    code=0
    run_tests "${arguments[@]}" || code=$?
    ! takes lab || test_in_lab "$rounds" || code=1
    exit "$code"
    ;;
esac
