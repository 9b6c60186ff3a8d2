#!/usr/bin/env node
// What `npx @satrail/server` runs: says in one sentence when this Node is too old, before anything is loaded that would not load there.
import { problem } from "@satrail/bitcoin/Runtime"

const why = problem(process.versions.node)
if (why === undefined) await import("./cli.ts")
else {
  console.error(why)
  process.exitCode = 1
}
