#!/bin/bash
# Builds the root file system of containers: Debian with systemd as its init, in a tar archive. Takes less than a minute.
#
#   container.sh [--suite SUITE] [--for-tests] OUTPUT.tar [PACKAGE...]
# SUITE is Debian's name of the release: bookworm if not told otherwise.
# --for-tests takes package lists of any age, since a mirror may be a snapshot, and leaves out the automatic updates.
# The named packages are installed as well.
# There is no kernel, boot loader, udev, cloud-init or guest agent: a container has the host's kernel and devices, and Graft installs in
# its namespaces. Needs mmdebstrap, and root for it.
set -euo pipefail
export LC_ALL=C

tests=false suite=bookworm
while :; do
  case ${1-} in
    --suite)
      suite=$2
      shift
      ;;
    --for-tests) tests=true ;;
    *) break ;;
  esac
  shift
done
out=$(realpath "${1:?usage: container.sh [--suite SUITE] [--for-tests] OUTPUT.tar [PACKAGE...]}")
shift
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work" "$out.partial"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

packages=systemd-sysv,dbus,systemd-resolved,iproute2,sudo,libssl3,libstdc++6,ca-certificates
$tests || packages+=,unattended-upgrades
for package; do packages+=,$package; done
mirror=(${GRAFT_DEBIAN_MIRROR:+"$GRAFT_DEBIAN_MIRROR"})
apt_options=(--aptopt='APT::Install-Recommends "false"')
$tests && apt_options+=(--aptopt='Acquire::Check-Valid-Until "false"')

# The customize hook, which runs with the new root. Each container makes keys of its own for an SSH server, if one is installed.
cat >"$work/customize" <<'HOOK'
#!/bin/sh
set -eu
root=$1 tests=TESTS
if ! $tests; then
  # apt's timers install what Debian's security team publishes (Debian: unattended-upgrades, 20auto-upgrades).
  printf 'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\n' \
    >"$root/etc/apt/apt.conf.d/20auto-upgrades"
fi
# A container cannot mount the kernel's debugging file systems.
for unit in systemd-networkd-wait-online.service e2scrub_reap.service sys-kernel-debug.mount sys-kernel-tracing.mount; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
printf '[Match]\nKind=veth\n\n[Network]\nDHCP=yes\n' >"$root/etc/systemd/network/80-graft.network"
if [ -x "$root/usr/bin/ssh-keygen" ]; then
  printf '[Unit]\nBefore=ssh.service\n[Service]\nType=oneshot\nExecStart=/usr/bin/ssh-keygen -A\n[Install]\nWantedBy=multi-user.target\n' \
    >"$root/etc/systemd/system/ssh-keys.service"
  chroot "$root" systemctl -q enable ssh-keys.service
fi
chroot "$root" systemctl -q enable systemd-networkd.service
: >"$root/etc/machine-id"
rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/hostname "$root"/etc/resolv.conf
ln -s ../run/systemd/resolve/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
HOOK
sed -i "s/^root=\$1 tests=TESTS$/root=\$1 tests=$tests/" "$work/customize"
chmod +x "$work/customize"

echo "container.sh: installing Debian $suite into an archive" >&2
mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" --format=tar \
  "${apt_options[@]}" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --customize-hook="$work/customize" \
  "$suite" "$out.partial" "${mirror[@]}"
mv "$out.partial" "$out"
echo "container.sh: $(du -h "$out" | cut -f1) in $out" >&2
