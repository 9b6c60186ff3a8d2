import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { directory, pages } from "../scripts/reference.ts"

for (const [name, text] of Object.entries(pages())) {
  it(`docs: docs/reference/${name} is up to date`, () => {
    assert.strictEqual(readFileSync(path.join(directory, name), "utf8"), text, "run `npm run docs`")
  })
}
