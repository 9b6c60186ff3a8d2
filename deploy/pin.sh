#!/bin/sh
# Writes the digest of each image behind its version, in the files that name it: what is built and run from then on is exactly that. Asks the images'
# registries, through docker. To take a newer version, change the version, drop the digest, and run this again.
set -eu
cd "$(dirname "$0")"
for file in Dockerfile compose.yaml; do
  for image in $(grep -oE '\b(node|postgres|caddy):[0-9][0-9A-Za-z.-]*' "$file" | sort -u); do
    digest=$(docker buildx imagetools inspect "$image" --format '{{json .Manifest.Digest}}' | tr -d '"')
    case $digest in
      sha256:????????????????????????????????????????????????????????????????) ;;
      *) echo "pin: docker named no digest of $image, but: $digest" >&2; exit 1 ;;
    esac
    sed "s|$image\(@sha256:[0-9a-f]*\)\{0,1\}|$image@$digest|" "$file" > "$file.pinned"
    cat "$file.pinned" > "$file"
    rm "$file.pinned"
    echo "$file: $image@$digest"
  done
done
