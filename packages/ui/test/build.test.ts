import { assert, describe, it } from "@effect/vitest"
import { gzipSync } from "node:zlib"
import { files } from "../build/Bundle.ts"
import * as Files from "../src/Files.ts"

const built = await files()
const committed = new Map(Files.read().map(({ name, text }) => [name, text]))

describe("What pages load", () => {
  it("assets: what is committed is what the sources make: npm run ui", () => {
    assert.deepStrictEqual([...committed.keys()].toSorted(), [...built.keys()].toSorted())
    for (const [name, text] of built) assert.isTrue(committed.get(name) === text, `${name} is not what the sources make: npm run ui`)
  })

  it("assets: nothing is made from strings, and nothing is loaded from elsewhere", () => {
    for (const [name, text] of committed) {
      // The namespaces of SVG and the like name what they are; nobody asks there.
      assert.notMatch(text.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, ""), /https?:\/\/|url\(|@import|\bimport\(/, name)
      assert.notMatch(text, /\beval\(|new Function\(|document\.write/, name)
    }
  })

  /** The most that a page loads, in bytes of gzip. */
  const budgets = { checkout: 30_000, console: 90_000, embed: 2_000 } as const
  for (const [entry, most] of Object.entries(budgets))
    it(`assets: ${entry} is at most ${most / 1000} kB`, () => {
      const sizes = [...committed].filter(([name]) => name.startsWith(`${entry}.`)).map(([, text]) => gzipSync(text, { level: 9 }).length)
      assert.isNotEmpty(sizes)
      assert.isAtMost(
        sizes.reduce((sum, size) => sum + size, 0),
        most
      )
    })
})
