#!/bin/bash
# Builds the small guest: a kernel and an initramfs, from Debian packages alone. Needs no root.
#
#   small.sh OUTPUT_FOLDER [KERNEL [MODULE...]]
#
# (KERNEL: the package that depends on the kernel, linux-image-cloud-amd64 if not given; MODULE: more
# modules) writes OUTPUT_FOLDER/vmlinuz, OUTPUT_FOLDER/initramfs.cpio and OUTPUT_FOLDER/manifest (the
# packages and versions that went in). The same packages give the same bytes. The initramfs is not
# compressed: without KVM a guest boots a quarter faster (1.9 s to 2.4 s with gzip -9).
# Properties on which guests and overlays (a second newc archive appended to the initramfs) may rely:
#   - /bin, /sbin, /lib, /lib64 and /usr/* are real folders, never links: the kernel replaces a link
#     by the overlay's folder of that name (init/initramfs.c, clean_path), which would lose its files.
#   - The loader searches /lib/x86_64-linux-gnu and /usr/lib/x86_64-linux-gnu; there is no ld.so.cache.
#     Every /usr/lib/graft/*.so* is linked into /usr/lib/x86_64-linux-gnu at boot, so an overlay
#     needs only to contain /usr/lib/graft/libcuda.so.1.
#   - /etc/hostname, if it exists, names the guest. The scripts /etc/graft/boot.d/* run in order before the
#     guest reports that it is ready.
#   - If the host key /etc/graft/ssh-host-key (OpenSSH's format) exists, an SSH server runs. It accepts the keys in
#     /root/.ssh/authorized_keys and no passwords.
#   - "GRAFT-READY" on the console: network (DHCP), guest agent and SSH server are up.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?usage: small.sh OUTPUT_FOLDER [KERNEL [MODULE...]]}
flavour=${2:-linux-image-cloud-amd64}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The modules that a libvirt guest needs, in load order; their dependencies are added.
modules="virtio_pci virtio_balloon virtio_console virtio_net virtio_rng virtio_blk vmw_vsock_virtio_transport ${*:3}"

say() { echo "small.sh: $*" >&2; }

# Downloads every package into $work/debs; the arguments are options for apt.
download() {
  kernel=$(apt-cache "$@" depends --important "$flavour" 2>/dev/null |
    awk '$1 == "Depends:" {print $2; exit}')
  [ -n "$kernel" ] || return 1
  say "downloading $kernel and $(grep -cv '^#' "$here/packages") more packages"
  # shellcheck disable=SC2046 # one word for each package
  (cd "$work/debs" && apt-get -q -o APT::Sandbox::User=root "$@" download "$kernel" $(grep -v '^#' "$here/packages") >&2)
}

mkdir -p "$work/debs" "$work/root" "$work/image" "$work/lists/partial"
if ! download; then
  # The machine's package lists are missing or outdated: fetch private lists, which needs no root.
  say "fetching package lists"
  own_lists=(-o "Dir::State::Lists=$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get -q -o APT::Sandbox::User=root "${own_lists[@]}" update >&2
  download "${own_lists[@]}" || {
    say "the packages cannot be had: apt needs a Debian 12 source"
    exit 1
  }
fi
for deb in "$work"/debs/*.deb; do
  dpkg-deb -x "$deb" "$work/root"
  dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$work/manifest"
done
root=$work/root image=$work/image

cd "$image"
mkdir -p bin sbin lib/x86_64-linux-gnu lib64 lib/modules usr/bin usr/sbin usr/lib/x86_64-linux-gnu \
  usr/lib/graft usr/local/bin etc/graft proc sys dev run tmp root var/log
ln -s ../run var/run

# busybox: one program with many names; its list of names includes its own.
cp "$root/bin/busybox" bin/busybox
"$root/bin/busybox" --list | grep -vx -e busybox -e shutdown | while read -r name; do ln -s busybox "bin/$name"; done

# The guest agent, the SSH server, the loader, and the libraries: those of nvcc's programs by name, those of the
# two servers from the loader's output.
cp "$root/usr/sbin/qemu-ga" "$root/usr/sbin/dropbear" usr/sbin/
cp "$root/usr/lib/dropbear/dropbearconvert" usr/sbin/
cp -L "$root/lib64/ld-linux-x86-64.so.2" lib64/ 2>/dev/null || cp -L "$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" lib64/
folders=$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu
needed=$(for program in usr/sbin/*; do
  [ -L "$program" ] || lib64/ld-linux-x86-64.so.2 --library-path "$folders" --list "$program"
done)
if grep 'not found' <<<"$needed"; then
  say "the programs need the libraries above: add their packages to $here/packages"
  exit 1
fi
{
  awk '$3 ~ /^\// {print $3}' <<<"$needed"
  for name in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1 libstdc++.so.6; do
    ls "$root"/{,usr/}lib/x86_64-linux-gnu/$name 2>/dev/null || true
  done
} | sort -u | while read -r library; do
  case $library in
    "$root"/*) cp -L "$library" lib/x86_64-linux-gnu/ ;;
    *) say "$library comes from this machine, not from a package: add its package to $here/packages" && exit 1 ;;
  esac
done

# Kernel modules, numbered in load order: each follows the modules in its "depends" field.
release=$(basename "$root"/lib/modules/*)
number=100
add_module() {
  local file dependency
  file=$(find "$root/lib/modules/$release/kernel" -name "${1//_/[-_]}.ko")
  if [ -z "$file" ]; then
    say "$kernel has no module $1"
    return 1
  fi
  compgen -G "lib/modules/*-${file##*/}" >/dev/null && return
  for dependency in $(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | tr ',' ' '); do
    add_module "$dependency"
  done
  cp "$file" "lib/modules/$number-${file##*/}"
  number=$((number + 1))
}
for module in $modules; do add_module "$module"; done

install -m 755 "$here/small/boot" "$here/small/network" "$here/small/shutdown" sbin/
install -m 644 "$here/small/inittab" "$here/small/passwd" "$here/small/group" etc/
ln -s bin/busybox init

find . -exec touch -h -d @0 {} +
find . -mindepth 1 | sort | cpio --quiet --reproducible -o -H newc -R 0:0 >"$work/initramfs.cpio"
install -m 644 "$work/initramfs.cpio" "$out/initramfs.cpio"
install -m 644 "$root/boot/vmlinuz-$release" "$out/vmlinuz"
sort "$work/manifest" >"$out/manifest" # last: with it the image is complete
say "$(du -h "$out/vmlinuz" | cut -f1) kernel, $(du -h "$out/initramfs.cpio" | cut -f1) initramfs in $out"
