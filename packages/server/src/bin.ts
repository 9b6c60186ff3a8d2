#!/usr/bin/env node
// The entry point of `npx @satrail/server`. Checks the version of Node before loading any module that an old
// version can't load, so that the error is one clear sentence.
import { problem } from "@satrail/bitcoin/Runtime"

const why = problem(process.versions.node)
if (why === undefined) await import("./cli.ts")
else {
  console.error(why)
  process.exitCode = 1
}
