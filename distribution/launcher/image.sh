# Builds guest images that are missing. Read by ready.sh.
#
# Images are kept in the cache under a name made from their recipe: a changed recipe makes another image.

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

# Where Graft's own folder cannot be written, the demo runs on a copy of the examples.
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

# The cloud image, for the tests that find it in GRAFT_CLOUD_IMAGE.
ready_cloud_image() {
  mkdir -p "$cache/images"
  GRAFT_CLOUD_IMAGE=$cache/images/cloud-$(sha256sum <"$images/cloud.sh" | cut -c1-16).qcow2
  if [ ! -f "$GRAFT_CLOUD_IMAGE" ]; then
    [ "$(id -u)" = 0 ] || give_up "the cloud image is made by root: run this as root once"
    say "building the cloud image $GRAFT_CLOUD_IMAGE"
    "$images/cloud.sh" "$GRAFT_CLOUD_IMAGE" >"$cache/cloud-image.log" 2>&1 || {
      tail -n 20 "$cache/cloud-image.log" >&2
      give_up "the cloud image could not be built: the whole log is $cache/cloud-image.log"
    }
  fi
  export GRAFT_CLOUD_IMAGE
}
