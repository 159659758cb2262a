#!/bin/sh
# Brings a guest to what an archive of Graft's says: files, packages, environment, services. Done again it
# changes nothing. No file is replaced before all of them have been written, each in a folder beside its place; then
# each is moved over the old one, so that programs that run keep what they have open.
#
#   setup.sh ARCHIVE [MARKER]
#
# Prints "changed WHAT" for each change and at the end "changed=N", or "failed: WHY" and ends with 1. The same
# goes to MARKER.log, and MARKER is made once all is done, or MARKER.failed. With GRAFT_OFFLINE=1 the guest does not
# run, and this runs in its root folder: services are enabled and started by its boot.
#
# On an emulated guest each program that is started counts, so few are, whatever the number of files.
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
archive=$1 marker=${2-}
new=.graft-new
folder=/var/lib/graft/.setup # the archive's; no deployment can have such a name
manifest=$folder/manifest
changed=0 packages='' services='' settings='' units='' loader=''

say() {
  echo "$*"
  [ -z "$marker" ] || echo "$*" >>"$marker.log" || true
}

fail() {
  clean
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

# Sets $dir to the folder of a path, and $beside to where its new file lies until it is moved.
locate() {
  dir=${1%/*}
  beside=$dir/$new/${1##*/}
}

# Takes away what was written and not moved, and our folder.
clean() {
  [ -d "$folder" ] || return 0
  set -- "$folder" "/etc/$new"
  if [ -e "$manifest" ]; then
    last=-
    while read -r kind _ _ path; do
      [ "$kind" = file ] || continue
      locate "$path"
      [ "$dir" = "$last" ] || set -- "$@" "$dir/$new"
      last=$dir
    done <"$manifest"
  fi
  rm -rf "$@"
}

# Writes every file beside its place: the archive holds them under those names, the list of them first.
unpack() {
  clean # after an interrupted run
  [ -d "${folder%/*}" ] || mkdir -p "${folder%/*}"
  if [ -n "$marker" ] && [ -e "$marker.log" ]; then rm -f "$marker" "$marker.failed" "$marker.log"; fi
  said=$(tar -xpmf "$archive" -C / 2>&1) && return
  # Not every tar says where it stopped.
  last=
  if [ -e "$manifest" ]; then
    while read -r kind _ _ path; do
      [ "$kind" = file ] || continue
      locate "$path"
      [ ! -e "$beside" ] || last=$path
    done <"$manifest"
  fi
  fail "cannot write ${last:-its files}: $said"
}

make_group() {
  getent group "$1" >/dev/null 2>&1 || grep -q "^$1:" /etc/group && return
  if command -v groupadd >/dev/null; then try "make the group $1" groupadd --system "$1"; else try "make the group $1" addgroup -S "$1"; fi
}

# pick PATH MODE GROUP: notes the new file that lies beside it, unless the old one is the same.
pick() {
  locate "$1"
  [ ! -d "$1" ] || fail "cannot write $1: a folder is there"
  if [ "$3" != root ]; then make_group "$3"; fi
  if [ -e "$1" ]; then
    # By number for root: a small guest need not have names.
    if [ "$3" = root ]; then
      have=$(stat -c '%a %u %g' "$1") want="$2 0 0"
    else
      have=$(stat -c '%a %u %G' "$1") want="$2 0 $3"
    fi
    if [ "$have" = "$want" ] && cmp -s "$beside" "$1"; then return; fi
  fi
  [ "$3" = root ] || try "give $1 its group" chgrp "$3" "$beside"
  echo "$1" >>"$folder/changed"
  echo "$beside" >>"$folder/beside"
  case $1 in
    *.so | *.so.[0-9]* | /etc/ld.so.conf.d/*) loader=yes ;;
    /etc/systemd/* | /lib/systemd/* | /usr/lib/systemd/*) units=yes ;;
    /etc/graft/boot.d/*) echo "$1" >>"$folder/boot" ;;
  esac
}

pick_files() {
  while read -r kind mode group path; do
    case $kind in
      file) pick "$path" "$mode" "$group" ;;
      environment) settings=yes ;;
      package) packages="$packages $mode" ;; # its name
      service) services="$services $mode" ;;
    esac
  done <"$manifest"
}

# Logins by way of PAM read one file, which is the system's: only a block in it is ours.
pick_environment() {
  begin='# begin of graft' end='# end of graft'
  [ -n "$settings" ] || grep -qsx "$begin" /etc/environment || return 0
  mkdir -p "/etc/$new"
  {
    sed "/^$begin\$/,/^$end\$/d" /etc/environment 2>/dev/null || true
    if [ -n "$settings" ]; then echo "$begin" && sed -n 's/^environment //p' "$manifest" && echo "$end"; fi
  } >"/etc/$new/environment" || fail "cannot write /etc/environment"
  pick /etc/environment 644 root
}

# Moves files that lie beside their places: one program for each folder.
place() {
  [ -e "$folder/changed" ] || return 0
  # Of these files alone, where sync can: a first boot has much else to write.
  xargs -d '\n' sync <"$folder/beside" 2>/dev/null || sync
  last=
  set --
  while read -r path; do
    locate "$path"
    if [ $# -gt 0 ] && [ "$dir" != "$last" ]; then
      try "put files into $last/" mv -f "$@" "$last/"
      set --
    fi
    last=$dir
    set -- "$@" "$beside"
    changed "$path"
  done <"$folder/changed"
  try "put files into $last/" mv -f "$@" "$last/"
  [ -z "$loader" ] || tell_loader
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
  [ -e "$folder/boot" ] || return 0
  while read -r path; do try "run $path" "$path" </dev/null; done <"$folder/boot"
}

install_packages() {
  missing=
  for name in $packages; do
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
  if [ "$changed" -gt 0 ] && [ -d /run/systemd/system ]; then
    # Variables for services are read by systemd itself when it starts.
    if [ -n "$settings" ]; then
      try "tell systemd" systemctl daemon-reexec
    elif [ -n "$units" ]; then
      try "tell systemd" systemctl daemon-reload
    fi
  fi
  for name in $services; do
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

unpack
pick_files
pick_environment
place
run_boot_scripts
install_packages
run_services
clean
say "changed=$changed"
[ -z "$marker" ] || : >"$marker"
