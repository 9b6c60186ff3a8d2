#!/bin/sh
# Builds satrail-ldk into a folder: the program, and LDK's library beside it. Needs Go 1.24 or newer and a C compiler, on Linux (x64, arm64).
#   sh build.sh /usr/local/lib/satrail-ldk
set -eu
[ $# -eq 1 ] || { echo "usage: sh build.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
[ "$(go env GOOS)" = linux ] || { echo "satrail-ldk runs on Linux only" >&2; exit 1; }
case $(go env GOARCH) in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  *) echo "LDK's library is there for x64 and arm64 only" >&2; exit 1 ;;
esac
CGO_ENABLED=1 go build -trimpath -ldflags '-s -w -extldflags=-Wl,-rpath,$ORIGIN' -o "$folder/satrail-ldk" .
install -m 644 "$(go list -m -f '{{.Dir}}' github.com/getAlby/ldk-node-go)/ldk_node/$machine-unknown-linux-gnu/libldk_node.so" "$folder/libldk_node.so"
echo "$folder/satrail-ldk"
