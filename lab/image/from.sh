#!/bin/bash
# Makes an image for guests of a cloud image of any distribution that has cloud-init: Ubuntu, Rocky, AlmaLinux, Debian. The image is booted
# once in QEMU, with a network; cloud-init installs the packages by the distribution's own package manager. Then everything that belongs to this one
# machine is removed, and the machine ends. Needs no root. Takes minutes, without KVM many.
#
#   from.sh CLOUD-IMAGE OUTPUT.qcow2 [PACKAGE...]
# qemu-guest-agent is always installed, and may run programs as Graft asks it to; the packages of Rocky and AlmaLinux forbid it that by default.
# Needs: qemu-system-x86 qemu-utils dosfstools mtools
set -euo pipefail
export LC_ALL=C

image=$(realpath "${1:?usage: from.sh CLOUD-IMAGE OUTPUT.qcow2 [PACKAGE...]}")
out=$(realpath "${2:?usage: from.sh CLOUD-IMAGE OUTPUT.qcow2 [PACKAGE...]}")
shift 2
limit=${GRAFT_IMAGE_TIMEOUT:-1500} most_said=$((16 << 20))
work=$(mktemp -d)
qemu=''
end() {
  [ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
  rm -rf "$work"
}
# The end of what the machine printed, whose control characters would reach a terminal.
said() { tail -c 4096 "$log" | tr -cd '\n\t -~' | tail -n 20 >&2; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs in the machine once cloud-init has come to its end.
cat >"$work/seal" <<'SEAL'
exec >/dev/ttyS0 2>&1
give_up() {
  echo "graft-image: failed: $*"
  tail -n 15 /var/log/cloud-init-output.log
  poweroff
  exit 1
}
for package in PACKAGES; do
  if command -v dpkg-query >/dev/null; then
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q ' installed$' || missing="${missing-} $package"
  else
    rpm -q "$package" >/dev/null || missing="${missing-} $package"
  fi
done
[ -z "${missing-}" ] || give_up "not installed:$missing"
# Red Hat's packages of the agent allow only what reads, and SELinux confines its programs.
if [ -f /etc/sysconfig/qemu-ga ]; then
  sed -i 's/^\(FILTER_RPC_ARGS\|BLACKLIST_RPC\|QEMU_GA_ARGS\)=/#&/' /etc/sysconfig/qemu-ga
fi
if command -v getsebool >/dev/null && getsebool virt_qemu_ga_run_unconfined >/dev/null 2>&1; then
  setsebool -P virt_qemu_ga_run_unconfined on || give_up "SELinux's virt_qemu_ga_run_unconfined could not be set"
fi
systemctl enable qemu-guest-agent 2>/dev/null || true # Debian's is started by udev
if command -v apt-get >/dev/null; then
  apt-get clean
  rm -rf /var/lib/apt/lists/*
else
  dnf -q clean all
fi
cloud-init clean --logs || give_up "cloud-init clean"
rm -f /etc/ssh/ssh_host_* /var/lib/dbus/machine-id /var/lib/systemd/random-seed
: >/etc/machine-id
fstrim / || true
sync
echo 'graft-image: done'
poweroff
SEAL
packages=(qemu-guest-agent "$@")
sed -i "s/^for package in PACKAGES;/for package in ${packages[*]};/" "$work/seal"

{
  printf '#cloud-config\npackage_update: true\npackages:\n'
  printf -- '  - "%s"\n' "${packages[@]}"
  printf 'write_files:\n  - path: /run/graft-seal\n    content: |\n'
  sed 's/^/      /' "$work/seal"
  printf 'runcmd:\n  - [systemd-run, --no-block, -p, After=cloud-final.service, sh, /run/graft-seal]\n'
} >"$work/user-data"
printf 'instance-id: graft-image\n' >"$work/meta-data"
printf 'version: 2\nethernets:\n  all:\n    match: {name: "e*"}\n    dhcp4: true\n' >"$work/network-config"
mkfs.vfat -C -n CIDATA "$work/seed" 1024 >/dev/null
mcopy -i "$work/seed" "$work/user-data" "$work/meta-data" "$work/network-config" ::

qemu-img convert -O qcow2 "$image" "$work/disk"
accelerators=tcg
# As Graft chooses for guests: some machines have a /dev/kvm that runs no ordinary guest.
if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then accelerators=kvm:tcg; fi
log=$work/console
: >"$log"
qemu-system-x86_64 -name graft-image -machine "pc,accel=$accelerators" -cpu max -smp 2 -m 2048 -nodefaults -display none -no-reboot \
  -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny \
  -drive "file=$work/disk,format=qcow2,if=virtio,discard=unmap,cache=unsafe" -drive "file=$work/seed,format=raw,if=virtio,readonly=on" \
  -nic user,model=virtio-net-pci -device virtio-rng-pci -serial "file:$log" &
qemu=$!
echo "from.sh: booted $(basename "$image") with $accelerators; cloud-init installs ${packages[*]}" >&2
while kill -0 "$qemu" 2>/dev/null; do
  if [ "$SECONDS" -gt "$limit" ]; then
    echo "from.sh: it has not come to its end within $limit s (GRAFT_IMAGE_TIMEOUT); the end of its console:" >&2
    said
    exit 1
  fi
  if [ "$(stat -c %s "$log")" -gt "$most_said" ]; then
    echo "from.sh: it has printed more than $most_said bytes; their end:" >&2
    said
    exit 1
  fi
  sleep 1
done
wait "$qemu" || true
qemu=''
if ! tr -d '\r' <"$log" | grep -qx 'graft-image: done'; then
  echo "from.sh: the machine ended without having become an image; the end of its console:" >&2
  said
  exit 1
fi
qemu-img convert -O qcow2 "$work/disk" "$out.partial"
mv "$out.partial" "$out"
echo "from.sh: $(du -h "$out" | cut -f1) in $out, after $SECONDS s" >&2
