#!/bin/bash
# Writes checksums of the distribution and signs them with a key of the operator's; or verifies both.
#
#   sign.sh FOLDER [GPG_KEY]        writes FOLDER/SHA256SUMS, and with a key FOLDER/SHA256SUMS.asc
#   sign.sh --verify FOLDER KEYRING ends with 0 only if SHA256SUMS is signed by a key of the file KEYRING, and every file is as it says
#
# example: distribution/sign.sh target 0123456789ABCDEF0123456789ABCDEF01234567
#          gpg --export 0123456789ABCDEF0123456789ABCDEF01234567 >graft.gpg
#          distribution/sign.sh --verify target graft.gpg
# FOLDER holds graft-linux-x86_64.tar.gz and graft-linux-x86_64.cdx.json, and on Debian the packages; mvn package makes them in target. GPG_KEY is the fingerprint
# of a secret key that gpg has; a passphrase is asked for by gpg's agent. Verifying needs gpgv and no key of one's own.
set -euo pipefail
files=(graft-linux-x86_64.tar.gz graft-linux-x86_64.cdx.json)

give_up() {
  echo "sign.sh: $1" >&2
  exit 1
}

usage() {
  sed -n '/^#   sign.sh/,/^# FOLDER/{/^# FOLDER/d;s/^# \{0,3\}//p}' "$0" >&2
  exit 2
}

verify() {
  local folder=$1 keys
  keys=$(realpath "$2")
  cd "$folder"
  # The signature first: nothing of an unsigned file is looked at.
  gpgv --keyring "$keys" SHA256SUMS.asc SHA256SUMS || give_up "SHA256SUMS in $folder is not signed by a key of $keys"
  local file
  for file in "${files[@]}"; do
    grep -qx "[0-9a-f]\{64\}  $file" SHA256SUMS || give_up "SHA256SUMS in $folder does not list $file"
  done
  sha256sum --check --strict SHA256SUMS || give_up "a file in $folder is not the one that was signed"
}

sign() {
  local file
  cd "$1"
  for file in "${files[@]}"; do
    [ -f "$file" ] || give_up "there is no $file in $1: run mvn package"
  done
  for file in graft*_amd64.deb; do
    [ ! -f "$file" ] || files+=("$file")
  done
  sha256sum "${files[@]}" >SHA256SUMS.new
  mv SHA256SUMS.new SHA256SUMS
  rm -f SHA256SUMS.asc
  [ $# = 1 ] || gpg --batch --yes --local-user "$2" --armor --detach-sign --output SHA256SUMS.asc SHA256SUMS ||
    give_up "gpg did not sign with the key $2: gpg --list-secret-keys lists those that there are"
}

case "${1-} $#" in
  '--verify 3') verify "$2" "$3" ;;
  -* | ' '*) usage ;;
  *' 1' | *' 2') sign "$@" ;;
  *) usage ;;
esac
