#!/usr/bin/env node
import { Refused } from "./Choices.ts"
import { run } from "./Create.ts"
import { Canceled, questions } from "./Questions.ts"

const terminal = process.stdin.isTTY ? questions(process.stdin, process.stdout) : undefined
try {
  await run(process.argv.slice(2), { ask: terminal?.ask, print: (line) => console.log(line) })
} catch (error) {
  if (!(error instanceof Refused || error instanceof Canceled)) throw error
  console.error(error.message)
  process.exitCode = error instanceof Canceled ? 130 : 1
} finally {
  terminal?.close()
}
