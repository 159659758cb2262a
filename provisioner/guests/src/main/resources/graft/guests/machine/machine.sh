#!/bin/sh
# Looks at a machine that Graft did not make, notes what lies where Graft writes, and gives that back.
#
#   sh -s probe PATH...        prints KEY=VALUE lines about the machine, and changes nothing
#   sh -s keep OWNER PATH...   notes what is at these paths, unless that is noted already; gives back
#                              noted paths that are not named any more
#   sh -s settle OWNER         notes how Graft left the loader's cache
#   sh -s undo OWNER           gives back everything that is noted
#
# "keep", "settle" and "undo" end with "failed: WHY" and 1, or with "done". A run that was killed at any point can be
# repeated.
set -eu
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
state=/var/lib/graft
record=$state/.existing # a name that no deployment can have, whose folders are here on a host of Graft
given_back=/var/lib/.graft-given-back # the record, once all of it is given back
kept=$record/kept # the files that were there, each at its path below this folder
cache=/etc/ld.so.cache
auxiliary=/var/cache/ldconfig/aux-cache # of the cache

fail() {
  echo "failed: $*"
  exit 1
}

# The nearest folder above a path that is there.
above() {
  folder=${1%/*}
  while [ -n "$folder" ] && [ ! -d "$folder" ]; do folder=${folder%/*}; done
  echo "${folder:-/}"
}

# A file system that is mounted read-only refuses before it looks whether there is such a folder. Root may write
# anywhere as far as "test -w" of some shells knows.
is_readonly() {
  case $(rmdir "$1/.graft-none" 2>&1) in
    *[Rr]ead-only*) return 0 ;;
  esac
  [ ! -w "$1" ]
}

probe() {
  echo "system=$(uname -s)"
  echo "cpu=$(uname -m)"
  echo "name=$(uname -n)"
  case $(ldd --version 2>&1 || true) in
    *musl*) echo libc=musl ;;
    *)
      if [ -e /lib64/ld-linux-x86-64.so.2 ]; then
        echo libc=glibc
      elif [ -n "$(ls /lib/ld-musl-* 2>/dev/null)" ]; then
        echo libc=musl
      else
        echo libc=none
      fi
      ;;
  esac
  for program in cmp cp df find flock grep ldconfig mv rmdir sed sha256sum sort stat sync tail tar xargs; do
    command -v "$program" >/dev/null || echo "missing=$program"
  done
  looked=' '
  for path; do
    [ ! -e "$path" ] && [ ! -L "$path" ] || echo "there=$path"
    folder=$(above "$path")
    case $looked in *" $folder "*) continue ;; esac
    looked="$looked$folder "
    ! is_readonly "$folder" || echo "readonly=$folder"
    # The fourth column: kibibytes that are free.
    free=$(df -Pk "$folder" | tail -n 1 | sed 's/^[^ ]* *[0-9]* *[0-9]* *\([0-9]*\).*/\1/')
    echo "free=$free $folder"
  done
  [ ! -e "$record/owner" ] || echo "owner=$(head -n 1 "$record/owner")"
  [ ! -e /usr/lib/graft/libcuda.so.1 ] || echo "client=$(sha256sum </usr/lib/graft/libcuda.so.1 | sed 's/ .*//')"
  echo "end=1"
}

is_noted() {
  [ -e "$kept$1" ] || [ -L "$kept$1" ] || grep -qxF -- "$1" "$record/absent"
}

# Notes each missing folder above a path.
note_folders() {
  folder=${1%/*}
  while [ -n "$folder" ] && [ ! -d "$folder" ]; do
    grep -qxF -- "$folder" "$record/folders" || echo "$folder" >>"$record/folders"
    folder=${folder%/*}
  done
}

note() {
  ! is_noted "$1" || return 0
  note_folders "$1"
  if [ -d "$1" ]; then # or a link to one
    fail "$1 is a folder, and Graft would write a file there"
  elif [ -e "$1" ] || [ -L "$1" ]; then
    mkdir -p "$kept${1%/*}"
    rm -f "$record/part"
    said=$(cp -a "$1" "$record/part" 2>&1) || fail "cannot keep a copy of $1: $said"
    mv -f "$record/part" "$kept$1"
  else
    echo "$1" >>"$record/absent"
  fi
}

check_owner() {
  [ ! -e "$record/owner" ] || [ "$(head -n 1 "$record/owner")" = "$1" ] ||
    fail "the client on this machine belongs to $(head -n 1 "$record/owner")"
}

sum() {
  sha256sum <"$1" | sed 's/ .*//'
}

# Makes the parts of a record that an interrupted run may lack. The owner is noted last: before that, a folder with
# the record alone in it was made for the record.
begin() {
  made=
  if [ ! -e "$record/owner" ]; then
    if [ ! -d "$state" ] || [ "$(ls -A "$state")" = .existing ]; then made=$state; fi
    mkdir -p "$record"
    chmod 700 "$record" # it may hold an earlier token
  fi
  mkdir -p "$kept"
  : >>"$record/absent"
  : >>"$record/folders"
  [ -z "$made" ] || echo "$made" >"$record/folders"
}

keep() {
  owner=$1
  shift
  check_owner "$owner"
  finish
  begin
  [ -e "$record/owner" ] || { echo "$owner" >"$record/owner.new" && mv -f "$record/owner.new" "$record/owner"; }
  for path in "$cache" "$auxiliary" "$@"; do note "$path"; done
  printf '%s\n' "$@" >"$record/wanted"
  list=$(every) || fail "cannot read $record"
  printf '%s\n' "$list" | while IFS= read -r path; do
    case $path in '' | "$cache" | "$auxiliary") continue ;; esac
    grep -qxF -- "$path" "$record/wanted" || forget "$path"
  done
  # Another program has changed the loader's cache since: the one that is kept is out of date.
  is_ours || : >"$record/cache-is-old"
  sync # the copies, before anything is written in their places
}

# Every path that is noted. In steps, because a pipe hides a failure of its first program.
every() {
  found=$(cd "$kept" && find . ! -type d) && printf '%s\n' "$found" | sed 's/^\.//' && cat "$record/absent"
}

give_back() {
  if [ -e "$kept$1" ] || [ -L "$kept$1" ]; then
    [ ! -d "$1" ] || fail "$1 is a folder now"
    mkdir -p "${1%/*}"
    rm -f "$1.graft-old"
    cp -a "$kept$1" "$1.graft-old" || fail "cannot put $1 back"
    mv -f "$1.graft-old" "$1" || fail "cannot put $1 back"
  else
    rm -f "$1" || fail "cannot delete $1"
  fi
}

# Gives back a path that the deployment does not need any more.
forget() {
  give_back "$1"
  rm -f "$kept$1"
  grep -vxF -- "$1" "$record/absent" >"$record/absent.new" || true
  mv -f "$record/absent.new" "$record/absent"
}

settle() {
  check_owner "$1"
  [ ! -e "$cache" ] || sum "$cache" >"$record/cache"
}

# Whether nobody but Graft has changed the loader's cache since it was noted.
is_ours() {
  if [ -e "$kept$cache" ] && cmp -s "$kept$cache" "$cache"; then return 0; fi
  [ ! -e "$record/cache-is-old" ] || return 1
  [ ! -e "$cache" ] || { [ -e "$record/cache" ] && [ "$(sum "$cache")" = "$(cat "$record/cache")" ]; }
}

give_back_cache() {
  is_noted "$cache" || return 0
  if is_ours; then
    give_back "$cache"
    ! is_noted "$auxiliary" || give_back "$auxiliary"
  else
    ldconfig || fail "ldconfig failed"
  fi
}

undo() {
  if [ -d "$record" ]; then
    check_owner "$1"
    begin
    list=$(every) || fail "cannot read $record"
    printf '%s\n' "$list" | while IFS= read -r path; do
      [ -n "$path" ] || continue
      # Left by an installation or by a change of the token that was killed.
      rm -rf "${path%/*}/.graft-new" "$path.graft-new"
      case $path in "$cache" | "$auxiliary") continue ;; esac
      give_back "$path"
    done
    give_back_cache
    rm -rf "$state/.incoming" "$state/.setup"
    # A folder comes after those in it.
    sort -r "$record/folders" | while read -r folder; do
      [ "$folder" = "$state" ] || drop "$folder"
    done
    sync # what was given back, before the record of it goes
    # A rename, so that the record is either complete or absent.
    mv "$record" "$given_back"
  fi
  finish
}

# Deletes a record that was given back, after the folder that it was in if "keep" made that.
finish() {
  [ -d "$given_back" ] || return 0
  ! grep -qxF -- "$state" "$given_back/folders" || drop "$state"
  rm -rf "$given_back"
}

# Removes a folder, unless somebody else has put something there.
drop() {
  rmdir "$1" 2>/dev/null || [ ! -d "$1" ] || echo "left $1, which is not empty"
}

what=$1
shift
if [ "$what" != probe ]; then
  # Two runs side by side could keep a copy of Graft's own files.
  exec 9</var/lib
  flock -w 60 9 || fail "another graft is at work on this machine"
fi
"$what" "$@"
[ "$what" = probe ] || echo "done"
