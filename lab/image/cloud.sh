#!/bin/bash
# Builds a cloud image like the ones that distributions publish: Debian on a bootable qcow2 disk, set up
# by cloud-init from a NoCloud seed, with the guest agent and an SSH server. Takes minutes.
#
#   cloud.sh [--suite SUITE] [--full-kernel] [--for-tests] OUTPUT.qcow2 [PACKAGE...]
# SUITE is Debian's name of the release: bookworm if not told otherwise.
# --full-kernel installs the kernel with the drivers of adapters such as InfiniBand's instead of the small cloud kernel.
# --for-tests makes a guest that boots faster and does nothing by itself: the kernel does without its mitigations, apt without
# its timers and without looking at the age of package lists, since a mirror may be a snapshot, podman does not look for containers
# to start or to update, and cloud-init makes one SSH host key in place of four. Guests that serve anybody need all of these.
# The named packages are installed as well.
# The disk: a FAT partition with the boot loader (syslinux), kernel and initramfs, and an ext4 partition with
# the rest. Xen's pygrub, which boots PV guests, reads extlinux.conf in its place. Needs root, for mmdebstrap; mounts no image.
# Needs: mmdebstrap qemu-utils e2fsprogs fdisk dosfstools mtools syslinux syslinux-common
set -euo pipefail
export LC_ALL=C

kernel=linux-image-cloud-amd64 root_mib=1536 boot_mib=64
tests=false more_arguments='' suite=bookworm
while :; do
  case ${1-} in
    --suite)
      suite=$2
      shift
      ;;
    --full-kernel) kernel=linux-image-amd64 root_mib=3072 boot_mib=128 ;;
    --for-tests) tests=true more_arguments=' mitigations=off' ;;
    *) break ;;
  esac
  shift
done
out=$(realpath "${1:?usage: cloud.sh [--suite SUITE] [--full-kernel] [--for-tests] OUTPUT.qcow2 [PACKAGE...]}")
shift
work=$(mktemp -d)
# While mmdebstrap runs, the machine's own /proc, /sys and /dev/shm are mounted in the folder. After a signal, wait for the end of
# mmdebstrap, and never descend into mounts that it could not unmount.
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$work"

packages=$kernel,systemd-sysv,udev,dbus,cloud-init,netplan.io,iproute2,openssh-server
packages+=,sudo,qemu-guest-agent,python3-yaml,libstdc++6,systemd-resolved,cloud-guest-utils
$tests || packages+=,unattended-upgrades
for package; do packages+=,$package; done
# A mirror, or a file with apt sources, in place of Debian's own.
mirror=(${GRAFT_DEBIAN_MIRROR:+"$GRAFT_DEBIAN_MIRROR"})
apt_options=(--aptopt='APT::Install-Recommends "false"')
$tests && apt_options+=(--aptopt='Acquire::Check-Valid-Until "false"')

# The customize hook, which runs in the new root. The initramfs contains only the modules for the root disk and is compressed
# with lz4: without KVM, unpacking takes a considerable part of the boot.
cat >"$work/customize" <<'HOOK'
#!/bin/sh
set -eu
root=$1 tests=TESTS
printf 'virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\nxen_blkfront\next4\n' >"$root/etc/initramfs-tools/modules"
printf 'MODULES=list\nCOMPRESS=lz4\n' >"$root/etc/initramfs-tools/conf.d/small"
chroot "$root" update-initramfs -u
echo 'LABEL=root / ext4 defaults 0 1' >"$root/etc/fstab"
printf 'datasource_list: [NoCloud, None]\nlocale: C.UTF-8\n' >"$root/etc/cloud/cloud.cfg.d/90_graft.cfg"
masked='systemd-networkd-wait-online.service e2scrub_reap.service'
if $tests; then
  masked="$masked apt-daily.timer apt-daily-upgrade.timer podman-auto-update.timer podman-auto-update.service podman-restart.service"
  echo 'ssh_genkeytypes: [ed25519]' >>"$root/etc/cloud/cloud.cfg.d/90_graft.cfg"
else
  # apt's timers install what Debian's security team publishes (Debian: unattended-upgrades, 20auto-upgrades).
  printf 'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\n' \
    >"$root/etc/apt/apt.conf.d/20auto-upgrades"
fi
for unit in $masked; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
chroot "$root" systemctl -q enable systemd-networkd.service
: >"$root/etc/machine-id"
rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/resolv.conf
ln -s ../run/systemd/resolve/resolv.conf "$root/etc/resolv.conf"
HOOK
sed -i "s/^root=\$1 tests=TESTS$/root=\$1 tests=$tests/" "$work/customize"
chmod +x "$work/customize"

echo "cloud.sh: installing Debian $suite into a folder" >&2
root=$work/root
mmdebstrap --quiet --mode=root --variant=minbase --include="$packages,initramfs-tools,lz4" \
  "${apt_options[@]}" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --customize-hook="$work/customize" \
  "$suite" "$root" "${mirror[@]}"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*

echo "cloud.sh: making the disk" >&2
boot=$work/boot.fat
mkfs.vfat -C -F 16 -n BOOT "$boot" $((boot_mib * 1024)) >/dev/null
mcopy -i "$boot" "$root"/boot/vmlinuz-* ::vmlinuz
mcopy -i "$boot" "$root"/boot/initrd.img-* ::initrd
cat >"$work/syslinux.cfg" <<CONFIG
serial 0 115200
default linux
label linux
  kernel vmlinuz
  append initrd=initrd root=LABEL=root rw console=ttyS0 quiet net.ifnames=0$more_arguments
CONFIG
mcopy -i "$boot" "$work/syslinux.cfg" ::syslinux.cfg
cat >"$work/extlinux.conf" <<'CONFIG'
default linux
label linux
  kernel /vmlinuz
  append initrd=/initrd root=LABEL=root rw console=hvc0 quiet net.ifnames=0
CONFIG
mmd -i "$boot" ::extlinux
mcopy -i "$boot" "$work/extlinux.conf" ::extlinux/extlinux.conf
syslinux --install "$boot"

disk=$work/disk
truncate -s $((1 + boot_mib + root_mib + 1))M "$disk"
sfdisk -q "$disk" <<PARTITIONS
label: dos
start=1MiB, size=${boot_mib}MiB, type=e, bootable
start=$((1 + boot_mib))MiB, size=${root_mib}MiB, type=83
PARTITIONS
dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" bs=440 count=1 conv=notrunc status=none
dd if="$boot" of="$disk" bs=1M seek=1 conv=notrunc,sparse status=none
rm -rf "${root:?}"/boot/*
mke2fs -q -t ext4 -L root -d "$root" -E offset=$(((1 + boot_mib) << 20)) "$disk" ${root_mib}M
qemu-img convert -O qcow2 "$disk" "$out.partial"
mv "$out.partial" "$out"
echo "cloud.sh: $(du -h "$out" | cut -f1) in $out" >&2
