import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Http from "@satrail/service/http/Http"
import * as Store from "./Store.ts"
import * as Suite from "./Suite.ts"

const world = await Suite.open(Store.memory())
const { handler, dispose } = Http.webHandler(world.routes)
afterAll(async () => {
  await dispose()
  await world.dispose()
})

describe("hostile requests, generated from /openapi.json", () => {
  it("hostile: requests generated from /openapi.json get documented envelopes and break nothing, and a rejected request changes nothing", async () => {
    const answered = await Suite.sendAll(world, 25_000, Suite.inProcess(handler))
    assert.deepStrictEqual(Suite.unknown(answered), { neverTaken: [], neverRefused: [] })
  })
})
