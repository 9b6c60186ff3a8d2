#!/bin/sh
# Builds satrail-ldk into a folder: the program, and LDK's library beside it. Needs Go 1.24 or newer and a C compiler, on Linux (x64, arm64) or
# macOS. Nobody has run it on macOS.
#   sh build.sh /usr/local/lib/satrail-ldk
#   GOARCH=arm64 sh build.sh FOLDER     # on x64, with Debian's gcc-aarch64-linux-gnu
set -eu
[ $# -eq 1 ] || { echo "usage: sh build.sh FOLDER" >&2; exit 2; }
# Exits with 3 if Go or the C compiler is missing.
command -v go >/dev/null || { echo "there is no Go here: install Go 1.24 or newer (https://go.dev/dl)" >&2; exit 3; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
[ "$(go env GOOS)" = "$(go env GOHOSTOS)" ] || { echo "build satrail-ldk for $(go env GOOS) on $(go env GOOS)" >&2; exit 1; }
case $(go env GOOS)-$(go env GOARCH) in
  linux-amd64) machine=x86_64 library=x86_64-unknown-linux-gnu/libldk_node.so beside='$ORIGIN' ;;
  linux-arm64) machine=aarch64 library=aarch64-unknown-linux-gnu/libldk_node.so beside='$ORIGIN' ;;
  darwin-*) machine=apple library=universal-macos/libldk_node.dylib beside=@executable_path ;;
  *) echo "LDK's library is there for Linux and macOS, x64 and arm64, only" >&2; exit 1 ;;
esac
if [ "$(go env GOARCH)" = "$(go env GOHOSTARCH)" ] || [ $machine = apple ]; then compiler=$(go env CC); else compiler=${CC:-$machine-linux-gnu-gcc}; fi
missing="install gcc-$(echo $machine | tr _ -)-linux-gnu"
[ $machine = apple ] && missing="run xcode-select --install"
command -v "${compiler%% *}" >/dev/null || { echo "no C compiler for $machine: $missing" >&2; exit 3; }
export LDK_CC="$compiler" CC="$PWD/cc.sh"
CGO_ENABLED=1 go build -trimpath -buildvcs=false -ldflags "-s -w -extldflags=-Wl,-rpath,$beside" -o "$folder/satrail-ldk" .
install -m 644 "$(go list -m -f '{{.Dir}}' github.com/getAlby/ldk-node-go)/ldk_node/$library" "$folder/$(basename $library)"
echo "$folder/satrail-ldk"
