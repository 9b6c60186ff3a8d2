import { assert, describe, it } from "@effect/vitest"
import { Completions } from "effect/cli"
import { readdirSync, readFileSync } from "node:fs"
import { satrail } from "../src/commands/Commands.ts"

type Described = Completions.CommandDescriptor

const guides = new URL("../../../docs/guides/", import.meta.url)
const descriptor = Completions.fromCommand(satrail)

/** What is typed in a page: each line of a block, and what stands in a line as code, from `satrail` on. */
const typedIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/(?:npm run satrail --|(?<=`|^)satrail) ([a-z][^\n`|]*)/gm)].flatMap(([, line = ""]) =>
    // The rest of a sentence, a shell's comment or redirection is not typed.
    [line.split(/\s+[>#]|\s{2,}/)[0]?.trim() ?? ""]
  )

/** What is wrong with a line; undefined when it is a command, with flags that it has. */
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
  it("command line: a line that is no command, or has a flag that it does not know, is noticed", () => {
    assert.strictEqual(wrongWith("keys rewoke KEY"), "keys has no rewoke")
    assert.strictEqual(wrongWith("withdrawals list --older 1h"), "list has no --older")
    assert.isUndefined(wrongWith('freeze COMPANY --reason "key stolen"'))
  })

  for (const name of readdirSync(guides).filter((name) => name.endsWith(".md"))) {
    const typed = typedIn(readFileSync(new URL(name, guides), "utf8"))
    if (typed.length === 0) continue
    it(`command line: what ${name} has typed is there`, () => {
      assert.deepStrictEqual(
        typed.flatMap((line) => wrongWith(line) ?? []),
        []
      )
    })
  }
})
