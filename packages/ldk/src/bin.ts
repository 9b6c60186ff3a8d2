#!/usr/bin/env node
// Replaces this process with the program, so that the program receives this process's signals and its exit code
// becomes ours.
import { program } from "./Program.ts"

try {
  const file = program()
  if (process.execve === undefined)
    throw new Error(`Node 22.19 or newer is required (this is ${process.version})`)
  process.execve(file, [file, ...process.argv.slice(2)])
} catch (error) {
  console.error(`satrail-ldk: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
