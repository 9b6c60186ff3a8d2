import { assert, describe, it } from "@effect/vitest"
import { Completions } from "effect/cli"
import { readdirSync, readFileSync } from "node:fs"
import { satrail } from "../src/commands/Commands.ts"

type Described = Completions.CommandDescriptor

const guides = new URL("../../../docs/guides/", import.meta.url)
const descriptor = Completions.fromCommand(satrail)

/**
 * Returns the commands on a page: from each line of a code block and each inline code, the part that starts at
 * `satrail`.
 */
const typedIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/(?:npm run satrail --|(?<=`|^)satrail) ([a-z][^\n`|]*)/gm)].flatMap(([, line = ""]) =>
    // Drop the rest of the sentence, shell comments and redirected output.
    [line.split(/\s+[>#]|\s{2,}/)[0]?.trim() ?? ""]
  )

/** Returns the problem with a line, or undefined if it is a valid command with known flags. */
const wrongWith = (line: string): string | undefined => {
  const words = line.match(/"[^"]*"|\S+/g) ?? []
  let command: Described = descriptor
  for (const word of words) {
    if (word.startsWith("--")) {
      const name = word.slice(2).split("=")[0] ?? ""
      if (name !== "help" && name !== "completions" && !command.flags.some((flag) => flag.name === name))
        return `${command.name} has no --${name}`
      continue
    }
    const sub: Described | undefined = command.subcommands.find(({ name }) => name === word)
    if (sub !== undefined) command = sub
    else if (command.subcommands.length > 0 && /^[a-z-]+$/.test(word)) return `${command.name} has no ${word}`
  }
  return undefined
}

describe("the guides", () => {
  it("command line: a guide's line with an unknown command or flag is detected", () => {
    assert.strictEqual(wrongWith("keys stop KEY"), "keys has no stop")
    assert.strictEqual(wrongWith("withdrawals list --older 1h"), "list has no --older")
    assert.isUndefined(wrongWith('freeze COMPANY --reason "key stolen"'))
  })

  for (const name of readdirSync(guides).filter((name) => name.endsWith(".md"))) {
    const typed = typedIn(readFileSync(new URL(name, guides), "utf8"))
    if (typed.length === 0) continue
    it(`command line: the commands in ${name} exist`, () => {
      assert.deepStrictEqual(
        typed.flatMap((line) => wrongWith(line) ?? []),
        []
      )
    })
  }
})
