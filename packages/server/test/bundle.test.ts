import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { rolldown } from "rolldown"
import { ascii, builtins } from "../build/Bundle.ts"

/** Bundles a module, and returns the bundle and its output. */
const bundled = async (source: string) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-bundle-"))
  try {
    writeFileSync(path.join(folder, "source.mjs"), source)
    const bundle = await rolldown({ input: path.join(folder, "source.mjs"), platform: "node", plugins: [builtins, ascii] })
    const file = path.join(folder, "bundle.mjs")
    await bundle.write({ file, comments: false })
    await bundle.close()
    return { code: readFileSync(file, "utf8"), output: execFileSync(process.execPath, [file], { encoding: "utf8" }) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the bundle of the service", () => {
  it("server: a bundle uses Node's modules in every form of import, without loading what it does not use", async () => {
    const { code, output } = await bundled(`
      import http, { createServer as made, maxHeaderSize } from "node:http"
      import os, * as system from "node:os"
      import * as all from "node:path"
      import { join } from "node:path"
      console.log([http.createServer === made, maxHeaderSize > 0, os.EOL === system.EOL, join === all.join].join())
      console.log(process.moduleLoadList.filter((name) => name.includes("undici")).length)`)
    assert.strictEqual(output, "true,true,true,true\n0\n")
    assert.notMatch(code, /^import /m)
  })

  it("server: a bundle prints every character, and its example of an import, but contains only ASCII", async () => {
    const texts = ["ä’😀", '\nimport { a } from "node:fs";\n']
    const { code, output } = await bundled(`console.log(${JSON.stringify(texts[0])} + \`${texts[1]}\` + /[’😀]/u.exec("’"))`)
    assert.strictEqual(output, `${texts.join("")}’\n`)
    assert.match(code, /^[\0-\x7f]*$/)
  })

  it("server: a raw text that is not ASCII is refused, because an escape would be part of the text", async () => {
    await bundled("console.log(String.raw`’`)").then(
      () => assert.fail("it was bundled"),
      (error: unknown) => assert.include(String(error), "A raw or escaped character is not ASCII")
    )
  })
})
