import { afterAll, assert, describe, it } from "@effect/vitest"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import * as Files from "@satrail/ui/Files"
import * as Ui from "../src/edge/Ui.ts"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const [file = assert.fail("there are no files")] = Files.read()
const url = `/${Ui.path(file.name)}`
const fetched = (headers: Record<string, string>) =>
  service.handler(new Request(`http://localhost${url}`, { headers }))

describe("files loaded by pages", () => {
  it("ui: a file's name contains the hash of its content, the file is cached permanently, and an unchanged file returns 304", async () => {
    assert.match(url, /^\/ui\/\w+-[\w-]{22}\.(js|css)$/)
    const { status, headers, text } = await service.ask("GET", url)
    assert.strictEqual(status, 200)
    assert.strictEqual(text, file.text)
    assert.strictEqual(headers.get("content-type"), file.contentType)
    assert.strictEqual(headers.get("cache-control"), "public, max-age=31536000, immutable")
    const again = await service.ask("GET", url, { headers: { "if-none-match": headers.get("etag") ?? "" } })
    assert.deepStrictEqual([again.status, again.text], [304, ""])
  })

  it("ui: files are compressed with brotli for clients that accept it, and with gzip for others", async () => {
    for (const [accepted, coding, read] of [
      ["gzip, deflate, br", "br", brotliDecompressSync],
      ["br;q=0, gzip", "gzip", gunzipSync]
    ] as const) {
      const response = await fetched({ "accept-encoding": accepted })
      assert.strictEqual(response.headers.get("content-encoding"), coding)
      assert.strictEqual(response.headers.get("vary"), "Accept-Encoding")
      assert.strictEqual(read(Buffer.from(await response.arrayBuffer())).toString("utf8"), file.text)
    }
  })

  it("ui: a page of another version, as during an upgrade, gets this version's file of that name, which is checked on each use", async () => {
    const { status, headers, text } = await service.ask(
      "GET",
      url.replace(/-[\w-]{22}\./, `-${"A".repeat(22)}.`)
    )
    assert.deepStrictEqual([status, text, headers.get("cache-control")], [200, file.text, "no-cache"])
  })

  it("ui: an unknown file name returns 404", async () => {
    for (const path of [
      "/ui/embed.js",
      `/ui/unknown-${"A".repeat(22)}.js`,
      "/ui/package.json",
      "/ui/..%2Fpackage.json",
      "/ui/",
      "/ui"
    ])
      assert.strictEqual((await service.ask("GET", path)).status, 404, path)
  })
})
