# Builds missing guest images. Sourced by ready.sh.
#
# The name of an image in the cache is derived from its recipe, so that a changed recipe makes a new image.

# The small guest image, linked to examples/built/guest.
ready_image() {
  local key folder
  key=$(cat "$images"/packages "$images"/small.sh "$images"/small/* | sha256sum | cut -c1-16)
  folder=$cache/images/small-$key
  mkdir -p "$cache/images"
  exec 8>"$cache/images/lock"
  flock 8
  if [ ! -f "$folder/manifest" ]; then
    say "building the small guest image in $folder"
    rm -rf "$folder"
    "$images/small.sh" "$folder" >"$cache/image.log" 2>&1 8>&- || {
      tail -n 20 "$cache/image.log" >&2
      give_up "the image could not be built: the whole log is $cache/image.log"
    }
  fi
  exec 8>&-
  local built
  for built in ${root:+"$root/examples/built"} "$home/examples/built"; do
    [ "$(readlink "$built/guest")" = "$folder" ] || ln -sfn "$folder" "$built/guest" 2>/dev/null || examples_elsewhere "$folder"
  done
}

# If Graft's own folder is not writable, the demo runs on a copy of the examples.
examples_elsewhere() {
  rm -rf "$cache/examples"
  cp -r "$home/examples" "$cache/examples"
  rm -rf "$cache/examples/built/guest"
  ln -s "$1" "$cache/examples/built/guest"
  case " ${arguments[*]} " in
    *.yaml\ *) ;;
    *) arguments+=("$cache/examples/demo.yaml") ;;
  esac
}

# The cloud image for the tests, which find it through GRAFT_CLOUD_IMAGE: `graft image build` with the packages for containers.
ready_cloud_image() {
  local packages=(--for-tests --package podman --package crun) key folder
  key=$(cat "$images/cloud.sh" <(echo "${packages[@]}") | sha256sum | cut -c1-16)
  folder=$cache/images/cloud-$key
  GRAFT_CLOUD_IMAGE=$folder/debian-12.qcow2
  if [ ! -f "$GRAFT_CLOUD_IMAGE" ]; then
    [ "$(id -u)" = 0 ] || give_up "the cloud image is made by root: run this as root once"
    say "building the cloud image $GRAFT_CLOUD_IMAGE"
    mkdir -p "$folder"
    GRAFT_IMAGE_DIR=$folder "$home/bin/graft" image build debian:12 "${packages[@]}" >"$cache/cloud-image.log" 2>&1 || {
      tail -n 20 "$cache/cloud-image.log" >&2
      give_up "the cloud image could not be built: the whole log is $cache/cloud-image.log"
    }
  fi
  export GRAFT_CLOUD_IMAGE
}
