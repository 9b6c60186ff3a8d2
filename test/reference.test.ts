import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import * as Catalogue from "../packages/service/src/core/Catalogue.ts"
import * as Pictures from "../scripts/pictures/Pictures.ts"
import { blocksOf, commandsOf, matches } from "../scripts/readme/Story.mjs"
import { client, directory, pages, wire } from "../scripts/reference.ts"

for (const [name, text] of Object.entries(pages())) {
  it(`docs: docs/reference/${name} is up to date`, () => {
    assert.strictEqual(readFileSync(path.join(directory, name), "utf8"), text, "run `npm run docs`")
  })
}

it("docs: the console's types match the OpenAPI documents", () => {
  assert.strictEqual(readFileSync(wire.file, "utf8"), wire.text(), "run `npm run docs`")
})

it("docs: the types and amounts of @satrail/client match the OpenAPI documents", () => {
  for (const { file, text } of client())
    assert.strictEqual(readFileSync(file, "utf8"), text, "run `npm run docs`")
})

it("docs: the guide to webhooks lists every event type", () => {
  const guide = readFileSync(path.join(directory, "../guides/webhooks.md"), "utf8")
  const rows = guide.split("\n").filter((line) => /^\|.*`\w+\.\w/.test(line))
  for (const type of Catalogue.types) {
    const [subject = "", ...rest] = type.split(".")
    const row =
      rows.find((line) => line.includes(`\`${subject}.`)) ??
      assert.fail(`docs/guides/webhooks.md has no row for ${type}`)
    assert.include(row, `.${rest.at(-1)}\``, type)
  }
})

for (const [name, text] of Object.entries(Pictures.pictures())) {
  it(`docs: docs/assets/${name} is up to date`, () => {
    assert.strictEqual(readFileSync(path.join(Pictures.directory, name), "utf8"), text, "run `npm run docs`")
  })
}

it("docs: the recording runs the README's code blocks unchanged and shows their output", () => {
  const blocks = blocksOf(readFileSync(path.join(directory, "../../README.md"), "utf8"))
  const story = Pictures.readStory()
  assert.deepStrictEqual(
    story.blocks.map((commands) => commands.map(({ command }) => command)),
    blocks.map(({ command }) => commandsOf(command)),
    "run `node scripts/readme.mjs --record`, then `npm run docs`"
  )
  for (const [index, { output }] of blocks.entries()) {
    const printed = (story.blocks[index] ?? []).map(({ output }) => output).join("")
    if (output !== undefined)
      assert.isTrue(matches(output, printed, true), `${output}\n\nis not\n\n${printed}`)
  }
})
