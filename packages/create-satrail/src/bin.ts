#!/usr/bin/env node
import { createInterface } from "node:readline/promises"
import { Refused } from "./Choices.ts"
import { run } from "./Create.ts"

const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
try {
  await run(process.argv.slice(2), { ask: terminal && ((question) => terminal.question(question)), print: (line) => console.log(line) })
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  terminal?.close()
}
