# Installs missing Debian packages. Sourced by ready.sh.

missing=() reasons=()

# need FOUND PACKAGE WHY: FOUND is a program, or a file if it begins with a slash.
need() {
  case $1 in
    /*) [ ! -e "$1" ] || return 0 ;;
    *) ! command -v "$1" >/dev/null || return 0 ;;
  esac
  missing+=("$2")
  reasons+=("$(printf '  %-24s %s' "$2" "$3")")
}

# Whether this run includes a part: "build", "guests", "tests", "cloud", "slurm" or "lab".
takes() { [[ " $parts " == *" $1 "* ]]; }

need_packages() {
  if takes build && [ -n "$root" ]; then
    need javac openjdk-17-jdk-headless "Graft is written in Java 17"
    need mvn maven "builds Graft"
    need gcc gcc "builds the client and the example programs"
    need /usr/include/stdio.h libc6-dev "the same"
    need make make "the same"
    need /usr/include/ucp/api/ucp.h libucx-dev "builds the client's channel rdma"
  fi
  if takes guests; then
    need qemu-system-x86_64 qemu-system-x86 "runs the guests"
    need qemu-img qemu-utils "makes their disks"
    need libvirtd libvirt-daemon-system "manages them"
    need virsh libvirt-clients "shows whether libvirt answers"
    need cpio cpio "packs the small guest image"
  fi
  if takes tests; then
    need /usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_lxc.so libvirt-daemon-driver-lxc "runs containers"
    need nsenter util-linux "enters them"
    need xorriso xorriso "reads a test's ISO image"
    need openssl openssl "makes certificates for tests"
    need lintian lintian "checks the Debian packages"
    need gpg gpg "signs a test's distribution"
    need gpgv gpgv "the same"
    need g++ g++ "builds the tests' CUDA programs without nvcc"
    need awk mawk "the same"
    need clang-format clang-format "checks how the client's C is formatted"
    # 96 MB to download, for the tests that render a comparison's report and the page of graft ui in a browser.
    need chromium-headless-shell chromium-headless-shell "draws a test's report and page"
    need rsvg-convert librsvg2-bin "makes PDFs of a test report's figures"
    need /usr/lib/python3/dist-packages/matplotlib/__init__.py python3-matplotlib "draws them from their data"
    need ansible-playbook ansible-core "sets guests up over SSH"
    need ansible-lint ansible-lint "checks the playbooks"
    need ssh openssh-client "reaches guests"
    need sshd openssh-server "stands for a machine that exists already, on a loopback port"
    need xmllint libxml2-utils "holds guests of Xen against libvirt's schema"
    need dnsmasq dnsmasq-base "gives guests addresses and names"
    need iptables iptables "lets them out of their network"
    need mkfs.vfat dosfstools "makes a test's bootable disk"
    need mcopy mtools "the same"
    need sfdisk fdisk "the same"
    need syslinux syslinux "the same"
    need /usr/lib/syslinux/mbr/mbr.bin syslinux-common "the same"
  fi
  if takes slurm; then
    need slurmctld slurmctld "runs jobs that use a GPU elsewhere"
    need slurmd slurmd "the same"
    need sbatch slurm-client "the same"
    need munged munge "the same"
  fi
  if takes lab; then
    need mmdebstrap mmdebstrap "makes the lab's image"
    need mke2fs e2fsprogs "the same"
    need cpio cpio "the same"
    need ssh openssh-client "reaches the lab"
  fi
  if takes cloud; then
    need mmdebstrap mmdebstrap "makes the cloud image"
  fi
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    give_up "these Debian packages are needed, and there is no apt-get here: ${missing[*]}"

  say "these packages are missing and will be installed:"
  printf '%s\n' "${reasons[@]}" >&2
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || give_up "not root, and no sudo here: install them as root, then try again"
    sudo=(sudo)
    if [ "$yes" = false ]; then
      [ -t 0 ] || give_up "not root: say --yes to have them installed by sudo"
      read -r -p "graft: install them by sudo apt-get? [Y/n] " answer
      case $answer in
        '' | [yY]*) ;;
        *) give_up "nothing installed" ;;
      esac
    fi
  fi
  local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends)
  mkdir -p "$cache"
  # The package lists may be outdated or missing: fetch them, then try once more.
  if ! "${install[@]}" install "${missing[@]}" >"$cache/apt.log" 2>&1; then
    say "fetching package lists"
    "${install[@]}" update >"$cache/apt.log" 2>&1 &&
      "${install[@]}" install "${missing[@]}" >>"$cache/apt.log" 2>&1 || {
      tail -n 20 "$cache/apt.log" >&2
      give_up "apt-get failed: the whole log is $cache/apt.log"
    }
  fi
}
