import { assert, it } from "@effect/vitest"
import { freePort } from "@satrail/testing/freePort"
import { boundPort } from "@satrail/testing/boundPort"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import * as Shop from "../examples/shop/Shop.ts"

it("shop: a paid order is shipped once, even if the shop or the service was down", async () => {
  const program = path.join(import.meta.dirname, "../examples/shop/main.ts")
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  assert.match(stdout, /^open .*\nshipped {4}the cake\nshipped {4}the tea, .*\nshipped {4}the coffee, .*\n$/)
})

it("shop: no request is accepted before the shop has the secret that verifies it", async () => {
  const port = await freePort()
  const isListening = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false
    )
  const listened: Array<boolean> = []
  const service = createServer(async (_request, response) => {
    listened.push(await isListening())
    response.end(JSON.stringify({ data: { id: "1", secret: "whsec_c2VjcmV0" } }))
  }).listen(0, "127.0.0.1")
  const servicePort = await boundPort(service)
  const folder = mkdtempSync(path.join(tmpdir(), "satrail-shop-"))
  const file = path.join(folder, "shop.json")
  try {
    const shop = await Shop.open({ service: `http://127.0.0.1:${servicePort}`, apiKey: "key", file, port })
    listened.push(await isListening())
    await shop.close()
    assert.deepStrictEqual(listened, [false, true])
  } finally {
    service.close()
    service.closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  }
})
