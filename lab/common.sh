# Shared by build, up, ssh and down: where the lab lives and how its machine is reached.
lab=${GRAFT_LAB:-/var/cache/graft/lab}
port=${GRAFT_LAB_PORT:-2222}

lab_ssh() {
  ssh -q -i "$lab/key" -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o ConnectTimeout=20 -o ServerAliveInterval=30 root@127.0.0.1 "$@"
}

# The process of the lab's machine, if it runs: by its own pid file, and only if it is still QEMU.
lab_pid() {
  local pid
  pid=$(cat "$lab/qemu.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && grep -q graft-lab "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}
