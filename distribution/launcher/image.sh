# Builds the small guest image if it is missing and links it to examples/built/guest. Read by ready.sh.
#
# Images are kept in the cache under a name made from their recipe: a changed recipe makes another image.

ready_image() {
  local key folder
  key=$(cat "$images"/packages "$images"/small.sh "$images"/small/* | sha256sum | cut -c1-16)
  folder=$cache/images/small-$key
  if [ ! -f "$folder/manifest" ]; then
    say "building the small guest image in $folder"
    mkdir -p "$cache/images"
    rm -rf "$folder".*
    "$images/small.sh" "$folder.$$" >"$cache/image.log" 2>&1 || {
      tail -n 20 "$cache/image.log" >&2
      give_up "the image could not be built: the whole log is $cache/image.log"
    }
    mv -T "$folder.$$" "$folder"
  fi
  local built
  for built in ${root:+"$root/examples/built"} "$home/examples/built"; do
    [ "$(readlink "$built/guest")" = "$folder" ] || ln -sfn "$folder" "$built/guest"
  done
}
