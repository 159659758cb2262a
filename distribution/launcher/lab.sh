# The lab's commands: ./graft lab COMMAND. Sourced by ready.sh. The checkout's folder lab/ implements them.

lab_usage() {
  cat <<'USAGE'
Usage: graft lab COMMAND [ARGUMENT...]

A host inside QEMU that has what passthrough takes: an IOMMU, cards with SR-IOV, stand-ins for GPUs, nested
virtualization. It needs no KVM. Its disk is a snapshot: what is changed in it is gone when it goes down.

  build [--again]          make its image (root; 2 to 5 minutes, 2.5 GB); `up` does it where it is missing
  up [--xen]               start it under KVM, or under Xen
  status                   whether it is built and runs
  ssh [COMMAND...]         a shell in it, or a command
  test [--xen] [ROUNDS]    Graft's own tests in it; starts it, and ends it if it did not run
  test --channels          what carries a guest's calls: figures beside those of other tools, and faults
  test --xen --hostile     a hostile guest on vchan, beside another
  test --fabric            rdma from one machine to a second one, which it starts too (5.6 GB of memory)
  test --units             the units of systemd for servers, and the limits of workers' cgroups
  test --day               an operator's day with the packages, from install to purge
  test --hosts             one deployment over three machines, which it starts itself (10 GB of memory)
  test --ktls              TLS in the kernel, on a newer kernel and an older one, which it starts itself
  down                     end it

  --yes                    install packages that are missing without asking

Examples:
  ./graft lab up && ./graft lab ssh lspci
  ./graft lab test 20
  ./graft lab test --xen

Exit codes: 0 done, 1 failed, 2 the command line is wrong, 4 this machine lacks something.
Where it is kept, its memory and port: see lab/up.
USAGE
}

# Runs `graft lab` with these arguments.
run_lab() {
  local lab_command=${1-} options=()
  [ $# -eq 0 ] || shift
  case $lab_command in
    build | up | down | status | test)
      local option
      for option; do
        case $option in
          --yes | -y) yes=true ;;
          --help | -h) lab_usage && return ;;
          *) options+=("$option") ;;
        esac
      done
      ;;
    ssh) options=("$@") ;; # all arguments belong to the command
    --help | -h | help) lab_usage && return ;;
    *)
      lab_usage >&2
      say "lab has no command '$lab_command'"
      return 2
      ;;
  esac
  case $lab_command in
    down | status) ;;
    test) parts='build lab' ;;
    *) parts=lab ;;
  esac
  make_ready
  case $lab_command in
    up) "$root/lab/build" >&2 ;;
    test)
      test_in_lab "${options[@]}"
      return
      ;;
  esac
  "$root/lab/$lab_command" "${options[@]}"
}

# The lab's tests with this checkout's build: lab/test's arguments.
test_in_lab() {
  "$root/lab/build" >&2 || return
  local code=0 started=false under=() option
  if [ "${1-}" = --hosts ] || [ "${1-}" = --ktls ]; then
    run_to_end "$root/lab/test" "$@"
    return
  fi
  for option; do
    [ "$option" != --xen ] || under=(--xen)
    # Both ends of the fabric are in this machine, each with threads that send and receive.
    [ "$option" != --channels ] || export GRAFT_LAB_CPUS=${GRAFT_LAB_CPUS:-2}
    # This machine is one end of the wire; lab/test starts the machine at the other end.
    [ "$option" != --fabric ] || export GRAFT_LAB_WIRE=listen=${GRAFT_LAB:-/var/cache/graft/lab}/wire
  done
  # lab/test refuses a machine that runs under the other hypervisor.
  if ! "$root/lab/status" --quiet; then
    started=true
  fi
  "$root/lab/up" "${under[@]}" >&2 || return
  run_to_end "$root/lab/test" "$@" || code=$?
  [ "$started" = false ] || "$root/lab/down" >&2
  return "$code"
}
