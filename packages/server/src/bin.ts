#!/usr/bin/env node
// The entry point of `npx @satrail/server`. Reports in one sentence that Node is too old, before loading
// anything that fails there.
import { problem } from "@satrail/bitcoin/Runtime"

const why = problem(process.versions.node)
if (why === undefined) await import("./cli.ts")
else {
  console.error(why)
  process.exitCode = 1
}
