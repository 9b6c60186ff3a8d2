import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { rolldown } from "rolldown"
import { ascii, loader } from "../build/Bundle.ts"

const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-bundle-"))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (file: string, ...args: ReadonlyArray<string>) =>
  execFileSync(process.execPath, [path.join(folder, file), ...args], {
    encoding: "utf8",
    env: { ...process.env, NODE_COMPILE_CACHE: path.join(folder, "compiled") }
  })

/** Bundles a module, and returns the bundle and its output. */
const bundled = async (source: string) => {
  writeFileSync(path.join(folder, "source.mjs"), source)
  const bundle = await rolldown({
    input: path.join(folder, "source.mjs"),
    platform: "node",
    plugins: [ascii]
  })
  const file = path.join(folder, "bundle.mjs")
  await bundle.write({ file, comments: false })
  await bundle.close()
  return { code: readFileSync(file, "utf8"), output: run("bundle.mjs") }
}

describe("the bundle of the service", () => {
  it("server: a bundle prints every character but contains only ASCII", async () => {
    const { code, output } = await bundled(`console.log("ä’😀" + /[’😀]/u.exec("’"))`)
    assert.strictEqual(output, "ä’😀’\n")
    assert.match(code, /^[\0-\x7f]*$/)
  })

  it("server: a raw text that is not ASCII is refused, because an escape would be part of the text", async () => {
    await bundled("console.log(String.raw`’`)").then(
      () => assert.fail("it was bundled"),
      (error: unknown) => assert.include(String(error), "A raw or escaped character is not ASCII")
    )
  })

  it("postgres: a CommonJS bundle can import the package, and says which package an embedded database needs", async () => {
    const url = (file: string) =>
      JSON.stringify(new URL(`../../postgres/src/${file}`, import.meta.url).pathname)
    writeFileSync(
      path.join(folder, "common.mjs"),
      `import { PgClient } from ${url("../../service/src/postgres.ts")}
      import { unpack } from ${url("client/EmptyDatabase.ts")}
      console.log(typeof PgClient.layer)
      try { unpack(${JSON.stringify(path.join(folder, "database"))}) } catch ({ message }) { console.log(message) }`
    )
    // esbuild leaves it undefined.
    const transform = { define: { "import.meta.url": "undefined" } }
    const bundle = await rolldown({ input: path.join(folder, "common.mjs"), platform: "node", transform })
    await bundle.write({ file: path.join(folder, "common.cjs"), format: "cjs", codeSplitting: false })
    await bundle.close()
    assert.match(
      run("common.cjs"),
      /^function\nA bundle needs files of @satrail\/postgres\. Install .*: npm install @satrail\/postgres/
    )
  })

  it("server: a start caches its bytecode, and the next start ignores a damaged or outdated cache", async () => {
    await loader(folder, ["node:http"])
    const service = (says: string) =>
      writeFileSync(
        path.join(folder, "service.cjs"),
        `const { readFileSync } = require("node:fs")
        exports.run = (ready) => {
          console.log("${says}", readFileSync(__filename).length, typeof gc, process.moduleLoadList.join().includes("undici"))
          ready()
        }`
      )
    const expected = (says: string) =>
      `${says} ${statSync(path.join(folder, "service.cjs")).size} function false\n`
    service("first")
    assert.strictEqual(run("main.mjs"), expected("first"))
    for (const [argument, status] of [
      ["--help", 0],
      ["-h", 0],
      ["help", 0],
      ["--version", 2],
      ["--port=80", 2]
    ] as const) {
      const ended = spawnSync(process.execPath, [path.join(folder, "main.mjs"), argument], {
        encoding: "utf8"
      })
      assert.deepStrictEqual([ended.status, ended.stdout], [status, ""], argument) // nothing was started
      assert.match(ended.stderr, /takes no arguments/)
    }
    const found = readdirSync(path.join(folder, "compiled"), { recursive: true, encoding: "utf8" })
    const kept = path.join(
      folder,
      "compiled",
      found.find((name) => name.endsWith("satrail-service")) ?? assert.fail(found.join())
    )
    const [bytes, { ino }] = [readFileSync(kept), statSync(kept)]
    assert.strictEqual(run("main.mjs"), expected("first"))
    assert.strictEqual(statSync(kept).ino, ino, "V8 accepted it")
    // V8 would run the bytecode of another source of the same length.
    service("other")
    assert.strictEqual(run("main.mjs"), expected("other"))
    const other = readFileSync(kept)
    assert.isFalse(other.equals(bytes))
    for (const damage of [
      other.subarray(0, 5),
      other.subarray(0, -9),
      Buffer.concat([other.subarray(0, 99), Buffer.alloc(other.length - 99)])
    ]) {
      writeFileSync(kept, damage)
      assert.strictEqual(run("main.mjs"), expected("other"))
      assert.strictEqual(readFileSync(kept).length, other.length)
      assert.isFalse(readFileSync(kept).equals(damage))
    }
    assert.deepStrictEqual(
      readdirSync(path.dirname(kept)).filter((name) => name.startsWith("satrail")),
      ["satrail-service"]
    )
  })
})
