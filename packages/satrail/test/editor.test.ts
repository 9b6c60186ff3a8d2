import { assert, it } from "@effect/vitest"
import path from "node:path"
import * as Editor from "./Editor.ts"

const root = path.join(import.meta.dirname, "../../..")

it("editor: a method's hover text has a sentence and an example, and an option's a sentence", async () => {
  const problems = await Editor.problems({
    folder: path.join(root, "node_modules/.cache/editor"),
    from: path.join(root, "packages/satrail/src/index.ts"),
    config: {
      extends: path.join(root, "tsconfig.base.json"),
      compilerOptions: {
        composite: false,
        noEmit: true,
        allowImportingTsExtensions: true,
        rewriteRelativeImportExtensions: false
      }
    },
    compiler: path.join(root, "node_modules/typescript/bin/tsc")
  })
  assert.deepStrictEqual(problems, [])
})
