# Builds a checkout if its sources are newer than its build. Sourced by ready.sh.

newer_than_build() {
  [ ! -f "$home/built" ] || [ ! -f "$home/lib/graft.jar" ] ||
    [ -n "$(find "$root" \( -name target -o -name built -o -name .git \) -prune -o -type f -newer "$home/built" -print -quit)" ]
}

build_if_newer() {
  newer_than_build || return 0
  [ -w "$root" ] || give_up "$root is not built and cannot be written: build it elsewhere, or unpack the distribution"
  mkdir -p "$root/target"
  exec 8>"$root/target/build.lock"
  flock 8
  if newer_than_build; then build; fi
  exec 8>&-
}

build() {
  local log=$root/target/build.log
  say "building (the first time it downloads libraries; log: $log)"
  SECONDS=0
  : >"$root/target/build-began"
  if ! mvn -B -ntp -T 2 -f "$root/pom.xml" package -DskipTests -Ddistribution.folderOnly=true 2>&1 |
    tee "$log" | sed -nu 's/ [^ ]*-SNAPSHOT//; s/^\[INFO\] Building \(.*[^ ]\)  *\(\[[0-9/]*\]\)$/  \2 \1/p' >&2; then
    grep -E '^\[(ERROR|FATAL)' "$log" | head -n 30 >&2 || tail -n 30 "$log" >&2
    give_up "the build failed: the whole log is $log"
  fi
  touch -r "$root/target/build-began" "$home/built" # sources that changed during the build are newer
  say "built in $SECONDS s"
}
