#!/bin/bash
# Assembles the distribution: target/graft, the folder from which ./graft runs, and its archive
# target/graft-linux-x86_64.tar.gz. Maven calls this script once lib/*.jar exist.
#
#   assemble.sh JAVA_HOME FOLDER_ONLY
#
#   bin/graft        the launcher          lib/client/    the client for guests, graft-verify
#   runtime/         Java, only what Graft needs          lib/compare/   the workloads' program
#   lib/*.jar        Graft and its libraries              lib/image/     the recipes of guest images
#   examples/        descriptors and programs             lib/launcher/  what the launcher reads
#   playbooks/                                            share/man/     a manual page for each command
#   graft-linux-x86_64.cdx.json   the bill of materials, in CycloneDX's format
#
# Beside the archive: the bill of materials, SHA256SUMS, which sign.sh also signs, and on Debian the packages of debian/build.sh.
set -euo pipefail
java_home=$1 folder_only=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/graft

# What Graft uses (checked below), and what its libraries use: JNA logging and jdk.unsupported.
modules=java.base,java.logging,java.xml,jdk.unsupported

# Replaces the folder $2 with a copy of $1, if $1 exists.
copy() {
  rm -rf "$2"
  [ ! -e "$1" ] || cp -a "$1" "$2"
}

made_from="$modules $("$java_home/bin/java" -version 2>&1 | tr '\n' ' ')"
if [ "$(cat "$home/runtime/made-from" 2>/dev/null)" != "$made_from" ]; then
  rm -rf "$home/runtime"
  "$java_home/bin/jlink" --add-modules "$modules" --output "$home/runtime" \
    --strip-debug --no-header-files --no-man-pages --compress=2
  "$home/runtime/bin/java" -Xshare:dump >/dev/null
  echo "$made_from" >"$home/runtime/made-from"
fi

mkdir -p "$home/bin" "$home/lib/client" "$home/lib/launcher"
install -m 755 "$root/graft" "$home/bin/graft"
install -m 644 "$root"/distribution/launcher/* "$home/lib/launcher/"
copy "$root/lab/image" "$home/lib/image"
copy "$root/playbooks" "$home/playbooks"
install -m 644 "$root/LICENSE" "$root/README.md" "$home/"

# The client, and the programs of the examples: gcc and make suffice.
for library in "$root"/remoting-bridge/client/target/lib/lib{cuda,nvidia-ml}.so*; do
  [ ! -e "$library" ] || cp -a "$library" "$home/lib/client/"
done
mkdir -p "$home/lib/client/cupti"
cp -a "$root"/remoting-bridge/client/target/lib/cupti/libcupti.so* "$home/lib/client/cupti/"
# Debug information would triple the client's size, and guest agents copy the client into guests in small chunks.
for library in "$home"/lib/client/lib*.so.1 "$home"/lib/client/cupti/libcupti.so.1?; do
  [ ! -e "$library" ] || strip --strip-unneeded "$library"
done
for program in channel wire; do
  install -D -m 755 "$root/remoting-bridge/client/target/bench/$program" "$home/lib/client/bench/$program"
done
install -m 755 "$root/hypervisors/kvm/usernet/target/graft-usernet" "$home/lib/graft-usernet"
install -m 755 -s "$root/provisioner/guests/oci-hook/target/graft-oci-hook" "$home/lib/client/graft-oci-hook"
install -m 755 "$root/remoting-bridge/jail/target/graft-jail" "$root/remoting-bridge/jail/target/graft-starter" "$home/lib/"
make -s -C "$root/examples/programs"
install -m 755 "$root/examples/built/graft-verify" "$home/lib/client/"
install -D -m 755 "$root/comparison/target/graft-workload" "$home/lib/compare/graft-workload"
mkdir -p "$home/examples/built" "$root/examples/built"
install -m 755 "$root/comparison/target/graft-workload" "$root/examples/built/"
for file in "$root"/examples/*; do
  case $file in
    */built) ;;
    *) copy "$file" "$home/examples/${file##*/}" ;;
  esac
done
for program in graft-verify graft-workload vectorAdd vectorAddDrv; do
  install -m 755 "$root/examples/built/$program" "$home/examples/built/"
done
chmod 644 "$home"/lib/libJCudaDriver-*.so
# JNA would copy its library from its jar to the folder for temporary files in every start.
rm -rf "$home/lib/jna"
mkdir "$home/lib/jna"
(cd "$home/lib/jna" && "$java_home/bin/jar" xf "$(echo "$home"/lib/jna-*.jar)" com/sun/jna/linux-x86-64/libjnidispatch.so)
mv "$home/lib/jna/com/sun/jna/linux-x86-64/libjnidispatch.so" "$home/lib/jna/"
rm -r "$home/lib/jna/com"
chmod 644 "$home/lib/jna/libjnidispatch.so"
"$java_home/bin/javac" --release 17 -Xlint:all -Werror -cp "$(echo "$home"/lib/jcuda-*.jar)" -d "$home/examples/built/java" \
  "$root/examples/programs/VectorAddJCuda.java"
install -m 755 "$root/examples/programs/vectorAddJCuda" "$home/examples/built/"

rm -rf "$home/share/man"
"$home/runtime/bin/java" "@$home/lib/launcher/java-options" -cp "$home/lib/graft.jar" graft.cli.ManPages "$home/share/man/man1"

# The bill of materials: what Maven knows of the jars, the Java runtime, and the C programs.
materials=$home/graft-linux-x86_64.cdx.json
"$home/runtime/bin/java" "@$home/lib/launcher/java-options" -cp "$home/lib/graft.jar" graft.cli.Materials \
  "$root/distribution/target/java.cdx.json" "$home" "$materials"

# Which sources these are: graft --version says it.
git -C "$root" rev-parse --short=12 HEAD >"$home/lib/commit" 2>/dev/null || rm -f "$home/lib/commit"

# The classes of Graft's commands, for the class archive that the launcher makes at the first plan.
for jar in "$home"/lib/{graft-{cli,common,comparison,deployment,guests,kvm,libvirt,lxc,sriov,xen},picocli,jackson-core}-*.jar; do
  "$java_home/bin/jar" tf "$jar"
done | sed -n '/^META-INF/d; /\(module\|package\)-info/d; s/\.class$//p' | LC_ALL=C sort >"$home/lib/launcher/classes"

# A class archive is valid only for the jars from which it was made.
rm -f "$home/lib/graft.jsa" "$home"/graft.jsa.*
touch "$home/built"

[ "$folder_only" = false ] || exit 0

used=$("$java_home/bin/jdeps" --multi-release 17 --ignore-missing-deps --print-module-deps "$home"/lib/graft-*.jar)
for module in ${used//,/ }; do
  case ,$modules, in
    *,$module,*) ;;
    *) echo "assemble.sh: Graft uses $module: add it to the runtime's modules in $0" >&2 && exit 1 ;;
  esac
done
tar -C "$root/target" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 \
  --exclude=graft/built --exclude=graft/examples/built/guest \
  -cf - graft | gzip -9n >"$root/target/graft-linux-x86_64.tar.gz"
cp "$materials" "$root/target/"
! command -v dpkg-deb >/dev/null || "$root/distribution/debian/build.sh"
"$root/distribution/sign.sh" "$root/target"
