#!/bin/sh
# Brings a guest to what an archive of Graft's says: files, packages, environment, services. Done again it
# changes nothing. No file is replaced before all of them have been written, each beside its place; then each
# is moved over the old one, so that programs that run keep what they have open.
#
#   setup.sh ARCHIVE [MARKER]
#
# Prints "changed WHAT" for each change and at the end "changed=N", or "failed: WHY" and ends with 1. The same
# goes to MARKER.log, and MARKER is made once all is done, or MARKER.failed. With GRAFT_OFFLINE=1 the guest does not
# run, and this runs in its root folder: services are enabled and started by its boot.
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
archive=$1 marker=${2-}
state=/var/lib/graft
folder=
changed=0

say() {
  echo "$*"
  [ -z "$marker" ] || echo "$*" >>"$marker.log" || true
}

fail() {
  if [ -s "$folder/staged" ]; then
    while read -r path; do rm -f "$path.graft-new"; done <"$folder/staged"
  fi
  rm -rf "${folder:?}"
  say "failed: $*"
  [ -z "$marker" ] || echo "$*" >"$marker.failed" || true
  exit 1
}

# try WHAT COMMAND...: does it, or fails with what it said.
try() {
  what=$1
  shift
  said=$("$@" 2>&1) || fail "cannot $what: $said"
}

changed() {
  changed=$((changed + 1))
  say "changed $*"
}

# A folder of its own for root alone; one that an interrupted run left goes first.
begin() {
  mkdir -p "$state"
  chmod 755 "$state"
  rm -rf "$state"/setup.*
  [ -z "$marker" ] || rm -f "$marker" "$marker.failed" "$marker.log"
  folder=$(mktemp -d "$state/setup.XXXXXX") || exit 1
  try "unpack the archive" tar -xf "$archive" -C "$folder"
  : >"$folder/staged"
}

make_group() {
  getent group "$1" >/dev/null 2>&1 || grep -q "^$1:" /etc/group && return
  if command -v groupadd >/dev/null; then try "make the group $1" groupadd --system "$1"; else try "make the group $1" addgroup -S "$1"; fi
}

# Writes $1 beside $4, to be moved there later, unless it is there already with mode $2 and group $3.
stage() {
  [ "$3" = root ] || make_group "$3"
  [ ! -d "$4" ] || fail "cannot write $4: a folder is there"
  # Few programs a file: on a slow guest each of them counts.
  if [ -e "$4" ]; then
    # By number for root: a small guest need not have names.
    if [ "$3" = root ]; then
      have=$(stat -c '%a %u %g' "$4") want="$2 0 0"
    else
      have=$(stat -c '%a %u %G' "$4") want="$2 0 $3"
    fi
    [ "$have" = "$want" ] && cmp -s "$1" "$4" && return
  elif [ ! -d "${4%/*}" ]; then
    (umask 022 && mkdir -p "${4%/*}") || fail "cannot make the folder ${4%/*}"
  fi
  echo "$4" >>"$folder/staged"
  # Out of the folder: on one file system nothing is written twice.
  try "write $4" mv "$1" "$4.graft-new"
  [ "$3" = root ] || try "give $4 its group" chgrp "$3" "$4.graft-new"
  try "give $4 its mode" chmod "$2" "$4.graft-new"
}

stage_files() {
  while read -r kind number mode group path; do
    if [ "$kind" = file ]; then stage "$folder/$number" "$mode" "$group" "$path"; fi
  done <"$folder/manifest"
}

# Logins by way of PAM read one file, which is the system's: only a block in it is ours.
stage_environment() {
  begin='# begin of graft' end='# end of graft'
  sed -n 's/^environment //p' "$folder/manifest" >"$folder/settings"
  [ -s "$folder/settings" ] || grep -qsx "$begin" /etc/environment || return 0
  { sed "/^$begin\$/,/^$end\$/d" /etc/environment 2>/dev/null || true; } >"$folder/environment"
  if [ -s "$folder/settings" ]; then
    { echo "$begin" && cat "$folder/settings" && echo "$end"; } >>"$folder/environment"
  fi
  stage "$folder/environment" 644 root /etc/environment
}

place_files() {
  [ -s "$folder/staged" ] || return 0
  # Of these files alone, where sync can: a first boot has much else to write.
  sed 's/$/.graft-new/' "$folder/staged" | xargs -d '\n' sync 2>/dev/null || sync
  while read -r path; do
    try "put $path into its place" mv -f "$path.graft-new" "$path"
    changed "$path"
    case $path in /etc/graft/boot.d/*) echo "$path" >>"$folder/boot" ;; esac
  done <"$folder/staged"
  : >"$folder/staged"
  tell_loader
}

# A loader without a list of libraries knows the system's folder alone; a driver that is there stays.
tell_loader() {
  if command -v ldconfig >/dev/null; then
    try "tell the loader" ldconfig
    return
  fi
  for library in /usr/lib/graft/lib*.so*; do
    there=/usr/lib/x86_64-linux-gnu/${library##*/}
    if [ -e "$library" ] && [ ! -e "$there" ]; then try "link $there" ln -s "$library" "$there"; fi
  done
}

# What each boot runs is run now, too.
run_boot_scripts() {
  [ -s "$folder/boot" ] || return 0
  while read -r path; do try "run $path" "$path" </dev/null; done <"$folder/boot"
}

install_packages() {
  wanted=$(sed -n 's/^package //p' "$folder/manifest") missing=
  for name in $wanted; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing="$missing $name"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || fail "packages are missing, and this guest has no apt-get:$missing"
  # shellcheck disable=SC2086 # words
  apt-get -qq -y --no-install-recommends install $missing >"$folder/apt" 2>&1 ||
    { apt-get -qq update && apt-get -qq -y --no-install-recommends install $missing; } >"$folder/apt" 2>&1 ||
    fail "cannot install$missing: $(tail -n 4 "$folder/apt")"
  for name in $missing; do changed "package $name"; done
}

run_services() {
  names=$(sed -n 's/^service //p' "$folder/manifest")
  if [ "$changed" -gt 0 ] && [ -d /run/systemd/system ]; then
    try "tell systemd" systemctl daemon-reload
    # Variables for services are read by systemd itself when it starts.
    if [ -s "$folder/settings" ]; then try "tell systemd" systemctl daemon-reexec; fi
  fi
  for name in $names; do
    [ -d /run/systemd/system ] || [ -n "${GRAFT_OFFLINE-}" ] ||
      fail "this guest has no systemd, and $name is a service of systemd's"
    if ! systemctl -q is-enabled "$name"; then
      try "enable $name" systemctl -q enable "$name"
      changed "service $name"
    fi
    [ -z "${GRAFT_OFFLINE-}" ] || continue
    if [ "$changed" -gt 0 ]; then
      try "start $name" systemctl restart "$name"
    elif ! systemctl -q is-active "$name"; then
      try "start $name" systemctl start "$name"
      changed "service $name"
    fi
  done
}

begin
stage_files
stage_environment
place_files
run_boot_scripts
install_packages
run_services
rm -rf "$folder"
say "changed=$changed"
[ -z "$marker" ] || : >"$marker"
