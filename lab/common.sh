# shellcheck shell=bash
# Shared by the lab's commands: the lab's folder and the connection to its machine.
lab=${GRAFT_LAB:-/var/cache/graft/lab}
port=${GRAFT_LAB_PORT:-2222}

lab_ssh() { lab_ssh_within 0 "$@"; }

# lab_ssh with a limit in seconds (0: none), after which the exit code is 124. A stalled machine does not answer, and ssh itself
# has no limit for the key exchange.
lab_ssh_within() { # seconds, command
  local limit=$1
  shift
  timeout --foreground --kill-after=5 "$limit" \
    ssh -i "$lab/key" -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o ConnectTimeout=20 -o ServerAliveInterval=30 -o ServerAliveCountMax=4 -o LogLevel=ERROR root@127.0.0.1 "$@"
}

# The process of the lab's machine, if it runs: the process in its pid file, provided that it is still QEMU.
lab_pid() {
  local pid
  pid=$(cat "$lab/qemu.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && grep -q graft-lab "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# The hypervisor under which the lab's machine was started: kvm or xen.
lab_kind() { cat "$lab/kind" 2>/dev/null || echo kvm; }

# Makes a folder for a further machine of the lab's image.
lab_folder() { # folder
  local file
  mkdir -p "$1"
  for file in disk.ext4 vmlinuz initrd key key.pub qemu; do
    ln -sfn "$(realpath "$lab")/$file" "$1/$file"
  done
}

# Ends the script if the machine does not run.
lab_needed() { lab_pid >/dev/null || { echo "$1: the lab is not up: ./graft lab up" >&2; exit 1; }; }

# Waits until the machine can be reached, and prints the time that this took.
lab_wait() { # who waits
  local start=$SECONDS limit=${GRAFT_LAB_TIMEOUT:-400}
  until lab_ssh_within 60 true 2>/dev/null; do
    if ! lab_pid >/dev/null; then
      echo "$1: the machine ended; the end of $lab/serial.log:" >&2
      tail -n 20 "$lab/serial.log" >&2
      return 1
    fi
    if [ $((SECONDS - start)) -gt "$limit" ]; then
      echo "$1: not reached in $limit s; see $lab/serial.log, or ./graft lab down" >&2
      return 1
    fi
    sleep 1
  done
  echo "up after $((SECONDS - start)) s"
}
