#!/bin/bash
# Makes the Debian packages of the distribution: target/graft_VERSION_amd64.deb, which is the folder target/graft with units, and
# target/graft-client_VERSION_amd64.deb, the client for machines of no descriptor. assemble.sh calls this script where dpkg-deb is there.
#
# A snapshot's version has the time and the name of its commit, so that a later one is an upgrade. Two builds of one commit give the same bytes.
# SOURCE_DATE_EPOCH in the environment (seconds since 1970) takes the place of the commit's time.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/distribution/debian
home=$root/target/graft
work=$root/target/debian
installed=/usr/lib/graft

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
version=$(basename "$home"/lib/graft-cli-*.jar .jar)
version=${version#graft-cli-}
case $version in
  *-SNAPSHOT) version=${version%-SNAPSHOT}~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S).$(git -C "$root" rev-parse --short=8 HEAD 2>/dev/null || echo unknown) ;;
esac

# The newest version of libc whose symbols the programs below a folder use.
libc() {
  find "$1" -type f \( -name '*.so*' -o -perm -100 \) -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1 | cut -d_ -f2
}

# The KiB of the files below a folder, as dpkg-gencontrol counts them: what du says depends on how the disk lays files out.
size() {
  find "$1" -path "$1/DEBIAN" -prune -o -printf '%y %s\n' |
    awk '{ kib += $1 ~ /[fl]/ ? int(($2 + 1023) / 1024) : 1 } END { print kib }'
}

# Files that both packages have: copyright and changes.
documents() {
  local to=$1/usr/share/doc/$2
  install -D -m 644 "$here/copyright" "$to/copyright"
  {
    printf '%s (%s) unstable; urgency=medium\n\n' graft "$version"
    printf '  * What has changed is in CHANGELOG.md.gz.\n\n'
    printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' "$here/graft.control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n >"$to/changelog.gz"
  gzip -9nc "$root/CHANGELOG.md" >"$to/CHANGELOG.md.gz"
}

# make NAME: from the folder $work/NAME and the files NAME.* here.
make() {
  local name=$1 tree=$work/$1 script file
  documents "$tree" "$name"
  mkdir -p "$tree/DEBIAN"
  for script in preinst postinst prerm postrm triggers conffiles; do
    [ ! -e "$here/$name.$script" ] || install -m "$([[ $script == p* ]] && echo 755 || echo 644)" "$here/$name.$script" "$tree/DEBIAN/$script"
  done
  [ ! -e "$here/$name.overrides" ] || install -D -m 644 "$here/$name.overrides" "$tree/usr/share/lintian/overrides/$name"
  find "$tree" -path "$tree/DEBIAN" -prune -o -type d -exec chmod 755 {} +
  find "$tree" -path "$tree/DEBIAN" -prune -o -type f \( -name '*.so*' -o -perm -100 \) -print0 | while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || strip --strip-unneeded "$file"
  done
  sed -e "s/@VERSION@/$version/" -e "s/@LIBC@/$(libc "$tree")/" -e "s/@SIZE@/$(size "$tree")/" \
    "$here/$name.control" >"$tree/DEBIAN/control"
  (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0r md5sum) >"$tree/DEBIAN/md5sums"
  find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  rm -f "$root/target/$name"_*_amd64.deb
  dpkg-deb --root-owner-group -Zgzip -z6 --build "$tree" "$root/target/${name}_${version}_amd64.deb" >/dev/null
}

rm -rf "$work"

tree=$work/graft
mkdir -p "$tree$installed" "$tree/usr/bin" "$tree/usr/share/man/man1" "$tree/lib/systemd/system" "$tree/etc/default" "$tree/usr/lib/sysusers.d" \
  "$tree/usr/share/bash-completion/completions" "$tree/usr/share/doc/graft"
for part in bin lib runtime playbooks; do cp -a "$home/$part" "$tree$installed/"; done
rm -f "$tree$installed/lib/graft.jsa" "$tree$installed/runtime/made-from"
rm -rf "$tree$installed/runtime/legal" # its licences are named in the copyright file
cp -a "$home/examples" "$tree$installed/"
rm -rf "$tree$installed/examples/built/guest"
echo "$version" >"$tree$installed/lib/package" # graft --version says it
install -m 644 "$home"/*.cdx.json "$root/docs/"*.md "$tree/usr/share/doc/graft/"
ln -s ../lib/graft/bin/graft "$tree/usr/bin/graft"
ln -s ../../../lib/graft/examples "$tree/usr/share/doc/graft/examples"
for page in "$home"/share/man/man1/*; do gzip -9nc "$page" >"$tree/usr/share/man/man1/${page##*/}.gz"; done
"$home/bin/graft" completion | sed '1{/^#!/d}' >"$tree/usr/share/bash-completion/completions/graft"
"$home/runtime/bin/java" "@$home/lib/launcher/java-options" -cp "$home/lib/graft.jar" graft.cli.PackageUnits $installed "$tree/lib/systemd/system"
install -m 755 "$here/prepare-server" "$tree$installed/lib/prepare-server"
install -m 644 "$here/graft-server.default" "$tree/etc/default/graft-server"
install -m 644 "$here/graft.sysusers" "$tree/usr/lib/sysusers.d/graft.conf"
find "$tree$installed" -type f \( -name '*.so*' -o -name '*.jsa' \) -exec chmod 644 {} +
chmod 755 "$tree$installed/lib/launcher/ready.sh"
make graft

tree=$work/graft-client
mkdir -p "$tree$installed" "$tree/etc/ld.so.conf.d" "$tree/etc/cdi"
install -m 644 "$home"/lib/client/lib*.so.1 "$tree$installed/"
install -D -m 644 -t "$tree$installed/cupti" "$home"/lib/client/cupti/libcupti.so.1?
ln -s libcupti.so.13 "$tree$installed/cupti/libcupti.so"
install -m 755 "$home/lib/client/graft-verify" "$tree$installed/"
install -m 755 "$home/lib/client/graft-oci-hook" "$tree$installed/oci-hook"
echo $installed >"$tree/etc/ld.so.conf.d/zz-graft.conf" # last, so that a real driver's libraries are found first
# As the bundle graft-client writes it.
sed -n '/path: \/etc\/cdi\/graft.yaml/,/^  - {/{s/^      //p}' \
  "$root/provisioner/guests/src/main/resources/graft/guests/bundle/graft-client.yaml" | grep -v '^content: |$' >"$tree/etc/cdi/graft.yaml"
make graft-client
