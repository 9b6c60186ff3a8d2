#!/bin/sh
# The C compiler of build.sh. ldk-node-go tells it to look for LDK's library in Go's module cache, a path of the
# machine that builds. Without this path the program loads the library beside it, and nothing else.
for argument; do
  shift
  case $argument in
    -Wl,-rpath,*/ldk_node/*) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec $LDK_CC "$@"
