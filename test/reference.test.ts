import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { directory, pages } from "../scripts/reference.ts"

for (const [name, text] of Object.entries(pages())) {
  it(`docs/reference/${name} says what the code does`, () => {
    assert.strictEqual(readFileSync(path.join(directory, name), "utf8"), text, "run `npm run docs`")
  })
}
