#!/bin/bash
# Installs, upgrades, removes and purges the packages on a copy of this machine that is thrown away: an overlay over its root file system, in
# namespaces of its own. Prints "ok: WHAT" for each check, and ends with 1 at the first that fails.
#
#   try-packages.sh GRAFT_DEB CLIENT_DEB FOLDER
set -euo pipefail
graft=$1 client=$2 folder=$3
if [ "${INSIDE-}" != yes ]; then
  INSIDE=yes exec unshare --mount --uts --ipc --pid --fork --kill-child "$0" "$@"
fi

mount --make-rprivate /
mkdir -p "$folder/upper" "$folder/root"
mount -t tmpfs -o size=1g none "$folder/upper"
mkdir "$folder/upper/work" "$folder/upper/files"
mount -t overlay -o "lowerdir=/,upperdir=$folder/upper/files,workdir=$folder/upper/work" none "$folder/root"
mount -t proc none "$folder/root/proc"
mount --rbind /dev "$folder/root/dev"
mount -t tmpfs none "$folder/root/run"
mount -t tmpfs none "$folder/root/tmp"
mkdir "$folder/root/tmp/debs"
cp "$graft" "$folder/root/tmp/debs/graft.deb"
cp "$client" "$folder/root/tmp/debs/client.deb"

in_root() { chroot "$folder/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
check() {
  local what=$1
  shift
  "$@" >"$folder/out" 2>&1 || { echo "failed: $what" && cat "$folder/out" && exit 1; }
  echo "ok: $what"
}
check_not() {
  local what=$1
  shift
  ! "$@" >"$folder/out" 2>&1 || { echo "failed: $what" && cat "$folder/out" && exit 1; }
  echo "ok: $what"
}
says() { grep -q "$1" "$folder/out" || { echo "failed: it does not say '$1'" && cat "$folder/out" && exit 1; }; }

# What a machine without Graft has: neither the user nor state of tests.
in_root sh -c 'userdel graft 2>/dev/null; rm -rf /var/lib/graft /var/log/graft /var/cache/graft /etc/graft /usr/lib/graft /etc/cdi/graft.yaml'

check "graft is installed" in_root dpkg --force-depends -i /tmp/debs/graft.deb
check "it is in the path" in_root graft --version
says '^graft [0-9]'
check "Java starts with an archive of classes" in_root test -s /usr/lib/graft/lib/graft.jsa
check "the servers' user exists" in_root getent passwd graft
check "a program runs on the software device" in_root graft run --device software -- /usr/share/doc/graft/examples/built/vectorAddDrv
says 'result=ok'
check "the examples can be planned" in_root graft validate /usr/share/doc/graft/examples/demo.yaml
check "there are manual pages" in_root sh -c 'zcat /usr/share/man/man1/graft-apply.1.gz | grep -q graft'
check "the completion is a script of bash" in_root bash -n /usr/share/bash-completion/completions/graft
check "no file of the package was changed" in_root dpkg --verify graft
[ ! -s "$folder/out" ] || { cat "$folder/out" && exit 1; }
check "the units are complete" in_root sh -c '! grep -n "[{}]" /lib/systemd/system/graft-*.service'

# A second day: a deployment, a node's settings.
in_root sh -c 'mkdir -p /var/lib/graft/lab /etc/graft && echo keep >/var/lib/graft/lab/journal.jsonl && echo "me secret" >/etc/graft/server.tokens &&
  echo GRAFT_SERVE=mine >/etc/default/graft-server'
check "it is upgraded" in_root dpkg --force-depends --force-confdef --force-confold -i /tmp/debs/graft.deb
check "settings stay" in_root grep -qx GRAFT_SERVE=mine /etc/default/graft-server
check "the tokens are made the server's" in_root /usr/lib/graft/lib/prepare-server
check "by nobody else read" in_root sh -c '[ "$(stat -c "%a %U" /etc/graft/server.tokens)" = "600 graft" ]'

check "graft-client is installed beside it" in_root dpkg --force-depends -i /tmp/debs/client.deb
check "the loader finds the client" in_root sh -c 'ldconfig && ldconfig -p | grep -q "/usr/lib/graft/libcuda.so.1"'
check_not "the client says what it lacks" in_root /usr/lib/graft/graft-verify --no-measure
says 'graft:'
check "the client is removed" in_root dpkg --purge graft-client
check_not "the loader has forgotten it" in_root sh -c 'ldconfig; ldconfig -p | grep -q /usr/lib/graft'

check "graft is removed" in_root dpkg -r graft
says "the deployment 'lab' stays"
check_not "nothing of it is left" in_root sh -c 'find /usr/lib/graft /usr/bin/graft /lib/systemd/system/graft-server.service | grep .'
check "settings stay until the purge" in_root test -e /etc/default/graft-server
check "it is purged" in_root dpkg --purge graft
says "/var/lib/graft is not empty and stays"
check "the journal is there" in_root grep -qx keep /var/lib/graft/lab/journal.jsonl
check "the tokens are there" in_root test -e /etc/graft/server.tokens
check_not "the settings are gone" in_root test -e /etc/default/graft-server
