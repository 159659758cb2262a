# Ensures that a libvirt daemon answers, and at the end stops the daemons that it started. Sourced by ready.sh.
# Several runs may overlap: each holds a shared lock (9) while it uses libvirt, and the last run stops the daemons that the
# first run started, unless guests are still running. Starting and stopping briefly hold a separate lock (8).

ready_libvirt() {
  uri=qemu:///system
  [ "$(id -u)" = 0 ] || answers || uri=qemu:///session
  mkdir -p "$run"
  exec 8>"$run/libvirt.starting" 9>"$run/libvirt.lock"
  flock 8
  flock -s 9
  trap release_libvirt EXIT
  if ! answers; then
    say "starting libvirt ($uri)"
    if [ "$uri" = qemu:///system ] && [ -d /run/systemd/system ]; then start_by_systemd; else start_daemons; fi
  fi
  exec 8>&-
}

# The query alone would start a session daemon, which then runs for two minutes.
answers() { LIBVIRT_AUTOSTART=0 timeout 30 virsh -q -c "$uri" uri >/dev/null 2>&1 8>&- 9>&-; }

start_by_systemd() {
  # The daemon's socket units start with it, and would start the daemon again after it was stopped.
  local unit units=()
  for unit in libvirtd.service libvirtd.socket libvirtd-ro.socket libvirtd-admin.socket; do
    systemctl -q is-active "$unit" || units+=("$unit")
  done
  systemctl start libvirtd || give_up "systemctl start libvirtd failed: see journalctl -u libvirtd"
  printf '%s\n' "${units[@]}" >"$run/libvirt.started"
  answers || give_up "libvirtd runs, but $uri does not answer: try virsh -c $uri uri"
}

start_daemons() {
  : >"$run/libvirt.started"
  restore_settings # left by a run that was killed
  restore_kvm
  relax_settings
  local daemon mounts=()
  own_mounts
  for daemon in virtlogd libvirtd; do
    if "${mounts[@]}" "$daemon" -d -p "$run/$daemon.pid" 2>"$run/$daemon.err" 8>&- 9>&-; then
      echo "$daemon" >>"$run/libvirt.started"
    elif [ "$daemon" = libvirtd ]; then
      cat "$run/$daemon.err" >&2
      give_up "$daemon did not start"
    fi
  done
  local tries
  for tries in {1..50}; do
    if answers; then
      restore_settings
      return
    fi
    sleep 0.2
  done
  give_up "libvirtd runs, but $uri does not answer: try virsh -c $uri uri"
}

# Sets `mounts` to the command that starts the daemons. Where both versions of cgroups are mounted, libvirt's LXC driver starts no
# container; the daemons then get a mount namespace with those of version 1 only. The hierarchy of systemd's stays: systemd in a
# container needs it.
own_mounts() {
  [ "$uri" = qemu:///system ] && awk '{ seen[$3] = 1 } END { exit !(seen["cgroup"] && seen["cgroup2"]) }' /proc/mounts || return 0
  # shellcheck disable=SC2016 # expanded by the other shell
  mounts=(unshare --mount --propagation slave /bin/sh -c
    'awk '"'"'$3 == "cgroup2" { print $2 }'"'"' /proc/mounts | xargs -r umount && exec "$@"' sh)
  "${mounts[@]}" true 2>/dev/null || mounts=()
}

# Settings that libvirt needs in chroots and containers. The daemon reads the file once, so it is restored at once.
settings=/etc/libvirt/qemu.conf

relax_settings() {
  [ "$uri" = qemu:///system ] || return 0
  local lines='' group mode
  # libvirt gives each guest a private mount namespace and records the owners of files in extended attributes. A plain chroot
  # refuses the former, a container without CAP_SYS_ADMIN both.
  unshare --mount true 2>/dev/null || lines=$'namespaces = []\nremember_owner = 0\n'
  # If /dev/kvm does not belong to this system's group kvm (for example without udev), root may use it but QEMU may not.
  # libvirt then probes QEMU again for every query, which takes half a minute for two guests.
  if group=$(stat -c %g /dev/kvm 2>/dev/null) && ! id -G libvirt-qemu | grep -qw "$group"; then
    lines+="group = \"+$group\""$'\n'
  fi
  if mode=$(stat -c %a /dev/kvm 2>/dev/null) && [ $((8#$mode & 8#60)) != $((8#60)) ]; then
    echo "$mode" >"$run/kvm.mode"
    chmod g+rw /dev/kvm || rm "$run/kvm.mode"
  fi
  [ -n "$lines" ] || return 0
  cp -p "$settings" "$run/qemu.conf"
  { printf '%s' "$lines" && cat "$run/qemu.conf"; } >"$settings"
}

restore_settings() {
  [ -f "$run/qemu.conf" ] || return 0
  cat "$run/qemu.conf" >"$settings"
  rm "$run/qemu.conf"
}

restore_kvm() {
  [ -f "$run/kvm.mode" ] || return 0
  chmod "$(cat "$run/kvm.mode")" /dev/kvm
  rm "$run/kvm.mode"
}

release_libvirt() {
  exec 8>"$run/libvirt.starting"
  flock 8
  [ -f "$run/libvirt.started" ] && flock -n 9 || return 0
  restore_settings
  local guests
  guests=$(virsh -q -c "$uri" list --name 2>/dev/null)
  [ "$uri" != qemu:///system ] || guests+=$(virsh -q -c lxc:///system list --name 2>/dev/null)
  if [ -n "$guests" ]; then
    say "libvirt goes on: guests are running"
    return 0
  fi
  local daemon
  tac "$run/libvirt.started" | while read -r daemon; do
    if [[ $daemon == libvirtd*.* ]]; then
      systemctl -q stop "$daemon"
    else
      stop_daemon "$run/$daemon.pid"
    fi
  done
  restore_kvm
  rm -f "$run/libvirt.started" "$run"/*.err
}

# Ends the daemon whose process number is in the given file and waits for its end.
stop_daemon() {
  local number tries
  number=$(cat "$1" 2>/dev/null) && kill "$number" 2>/dev/null || return 0
  for tries in {1..100}; do
    kill -0 "$number" 2>/dev/null || break
    sleep 0.1
  done
  rm -f "$1"
}
