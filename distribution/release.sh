#!/bin/bash
# Makes a release of this checkout: two commits and a tag. Nothing leaves the checkout.
#
#   distribution/release.sh VERSION NEXT
#
# example: distribution/release.sh 0.2.0 0.3.0
# The first commit has VERSION everywhere, and a list of the functions that the release's clients send, by which later servers serve them. The tag
# vVERSION names it. The second commit begins NEXT. Run the tests before: the release has the sources of the commit that is checked out.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
api=remoting-bridge/api/src/main

give_up() {
  echo "release.sh: $1" >&2
  exit 1
}

[ $# = 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
version=$1 next=$2
for number in "$version" "$next"; do
  [[ $number =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || give_up "'$number' is no version such as 0.2.0"
done
[ -z "$(git status --porcelain)" ] || give_up "the checkout has changes that are not committed (git status)"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || give_up "the tag v$version exists"
grep -qx "## $version, not released" CHANGELOG.md || give_up "CHANGELOG.md has no heading '## $version, not released'"
commit=$(git rev-parse --short=8 HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# set_version FROM TO, in every file that has the version by itself
set_version() {
  git ls-files -z '*pom.xml' | xargs -0 sed -i "s|<version>$1</version>|<version>$2</version>|"
  sed -i "s/^version: .*/version: ${2%-SNAPSHOT}/" playbooks/galaxy.yml
  sed -i "s/graft-setup-[0-9.]*\.tar/graft-setup-${2%-SNAPSHOT}.tar/" playbooks/README.md
}

# What the release's clients send.
# shellcheck disable=SC2046 # words without spaces
javac -d "$work/classes" $(git ls-files "$api/java/*.java")
cp -r $api/resources/. "$work/classes"
mkdir "$work/release"
java -cp "$work/classes" graft.remoting.api.Generator release "$work/release"
{
  echo "# What clients of Graft $version (commit $commit) send: written by \"Generator release\"."
  cat "$work/release/functions"
} >"$api/resources/graft/remoting/api/releases/$version"
sed -i "s/\(List<String> SERVED = List.of(.*\));/\1, \"$version\");/" $api/java/graft/remoting/api/EarlierRelease.java
grep -q "\"$version\");" $api/java/graft/remoting/api/EarlierRelease.java || give_up "EarlierRelease.SERVED could not be changed"

set_version "$version-SNAPSHOT" "$version"
sed -i "s/^## $version, not released/## $version (commit $commit)/" CHANGELOG.md
git add -A
git commit -qm "Graft $version"
git tag -a -m "Graft $version" "v$version"

git ls-files -z '*pom.xml' | xargs -0 git checkout -q HEAD~1 --
set_version "$version-SNAPSHOT" "$next-SNAPSHOT"
sed -i "0,/^## $version /s//## $next, not released\n\n&/" CHANGELOG.md
git commit -qam "The next version is $next"
echo "v$version is $(git rev-parse --short=8 "v$version^{commit}"); main has $next-SNAPSHOT"
