#!/bin/sh
# Adds each image's digest to its version in the files that name it, so that later builds use exactly that image. Queries the images' registries
# through docker. To use a newer version, change the version, remove the digest, and run this again.
set -eu
cd "$(dirname "$0")"
for file in Dockerfile compose.yaml; do
  for image in $(grep -oE '\b(node|postgres|caddy):[0-9][0-9A-Za-z.-]*' "$file" | sort -u); do
    digest=$(docker buildx imagetools inspect "$image" --format '{{json .Manifest.Digest}}' | tr -d '"')
    case $digest in
      sha256:????????????????????????????????????????????????????????????????) ;;
      *) echo "pin: docker returned no digest for $image, but: $digest" >&2; exit 1 ;;
    esac
    sed "s|$image\(@sha256:[0-9a-f]*\)\{0,1\}|$image@$digest|" "$file" > "$file.pinned"
    cat "$file.pinned" > "$file"
    rm "$file.pinned"
    echo "$file: $image@$digest"
  done
done
