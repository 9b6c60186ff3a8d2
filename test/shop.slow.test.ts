import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import path from "node:path"
import { promisify } from "node:util"

it("shop: a paid order is shipped once, even if the shop or the service was down", async () => {
  const program = path.join(import.meta.dirname, "../examples/shop/main.ts")
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  assert.match(stdout, /^open .*\nshipped {4}the cake\nshipped {4}the tea, .*\nshipped {4}the coffee, .*\n$/)
})
