#!/bin/bash
# Shows that a build gives the same bytes wherever it is done: builds the C parts and most jars again, in a folder of another
# name, and compares them with the distribution in target/graft.
#
#   reproduce.sh             after ./graft build; prints each file that differs, and ends with 1 if there is one
#
# The same compiler and JDK are needed. What is not built again: modules that need other modules' test classes, which the
# same plugins make, the Java runtime, and files that are copies of files of the checkout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/graft
[ -f "$home/lib/graft.jar" ] || { echo "reproduce.sh: there is no build in $home: run ./graft build" >&2 && exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/graft-built-again-in-a-folder-of-another-name.XXXXXX")
trap 'rm -rf "$work"' EXIT
modules=common,remoting-bridge/server,hypervisors/libvirt,sriov
different=0 equal=0

# Compares $1, built again, with $2.
compare() {
  if cmp -s "$1" "$2"; then
    equal=$((equal + 1))
  else
    echo "reproduce.sh: $2 is another when it is built again" >&2
    different=$((different + 1))
  fi
}

(cd "$root" && find . \( -name target -o -name .git -o -path ./examples/built \) -prune -o -type f -print0) |
  tar -C "$root" --null --files-from=- -cf - | tar -C "$work" -xf -
mvn -o -q -B -f "$work/pom.xml" package -Dmaven.test.skip=true -DskipTests -pl "$modules" -am >&2
for part in remoting-bridge/client/target/lib/libcuda.so.1 remoting-bridge/client/target/lib/libnvidia-ml.so.1 \
  remoting-bridge/client/target/lib/cupti/libcupti.so.12 remoting-bridge/client/target/lib/cupti/libcupti.so.13 \
  remoting-bridge/client/target/bench/channel remoting-bridge/client/target/bench/wire hypervisors/kvm/usernet/target/graft-usernet \
  provisioner/guests/oci-hook/target/graft-oci-hook; do
  make -s -C "$work/${part%%/target/*}" "${part#"${part%%/target/*}/"}"
done
make -s -C "$work/examples/programs"
make -s -C "$work/comparison/workloads"
strip --strip-unneeded "$work"/remoting-bridge/client/target/lib/lib{cuda,nvidia-ml}.so.1 "$work"/remoting-bridge/client/target/lib/cupti/libcupti.so.1?
strip "$work/provisioner/guests/oci-hook/target/graft-oci-hook"

for jar in "$work"/*/target/graft-*.jar "$work"/*/*/target/graft-*.jar; do
  [ ! -f "$home/lib/${jar##*/}" ] || compare "$jar" "$home/lib/${jar##*/}"
done
for library in libcuda.so.1 libnvidia-ml.so.1 cupti/libcupti.so.12 cupti/libcupti.so.13; do
  compare "$work/remoting-bridge/client/target/lib/$library" "$home/lib/client/$library"
done
for program in channel wire; do
  compare "$work/remoting-bridge/client/target/bench/$program" "$home/lib/client/bench/$program"
done
compare "$work/remoting-bridge/jail/target/graft-jail" "$home/lib/graft-jail"
compare "$work/remoting-bridge/jail/target/graft-starter" "$home/lib/graft-starter"
compare "$work/hypervisors/kvm/usernet/target/graft-usernet" "$home/lib/graft-usernet"
compare "$work/provisioner/guests/oci-hook/target/graft-oci-hook" "$home/lib/client/graft-oci-hook"
compare "$work/comparison/target/graft-workload" "$home/lib/compare/graft-workload"
for program in graft-verify vectorAdd vectorAddDrv; do
  compare "$work/examples/built/$program" "$home/examples/built/$program"
done
echo "reproduce.sh: $equal files are the same, $different are not"
[ "$different" = 0 ]
