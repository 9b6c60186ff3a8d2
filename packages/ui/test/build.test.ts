import { assert, describe, it } from "@effect/vitest"
import { gzipSync } from "node:zlib"
import { files } from "../build/Bundle.ts"
import * as Files from "../src/Files.ts"

const built = await files()
const committed = new Map(Files.read().map(({ name, text }) => [name, text]))

describe("files loaded by pages", () => {
  it("assets: the committed files match the sources (otherwise run npm run ui)", () => {
    assert.deepStrictEqual([...committed.keys()].toSorted(), [...built.keys()].toSorted())
    for (const [name, text] of built)
      assert.isTrue(committed.get(name) === text, `${name} is out of date: run npm run ui`)
  })

  it("assets: no script builds code from strings, and no asset loads anything from another origin", () => {
    for (const [name, text] of committed) {
      // URLs of namespaces, as in SVG, are only identifiers and are never requested.
      assert.notMatch(
        text.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, ""),
        /https?:\/\/|url\(|@import|\bimport\(/,
        name
      )
      assert.notMatch(text, /\beval\(|new Function\(|document\.write/, name)
    }
  })

  it("assets: the design tokens are in one file, which every page loads", () => {
    const defining = [...committed].filter(([, text]) => text.includes("--ink:")).map(([name]) => name)
    assert.deepStrictEqual(defining, ["tokens.css"])
  })

  /** Maximum size of the assets that each kind of page loads, in bytes after gzip. */
  const budgets = { checkout: 10_500, console: 12_000, pages: 4_000 } as const
  const size = (text: string | undefined) => (text === undefined ? 0 : gzipSync(text, { level: 9 }).length)
  for (const [entry, most] of Object.entries(budgets))
    it(`assets: ${entry} has at most ${most / 1000} kB`, () => {
      const sizes = ["tokens.css", `${entry}.css`, `${entry}.js`].map((name) => size(committed.get(name)))
      assert.isAbove(sizes[0] ?? 0, 0)
      assert.isAbove(sizes[1] ?? 0, 0)
      assert.isAtMost(
        sizes.reduce((sum, size) => sum + size, 0),
        most
      )
    })
  it("assets: embed has at most 2 kB", () => {
    assert.isAbove(size(committed.get("embed.js")), 0)
    assert.isAtMost(size(committed.get("embed.js")), 2000)
  })
})
