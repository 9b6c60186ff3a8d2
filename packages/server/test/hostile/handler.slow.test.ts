import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Http from "@satrail/http/Http"
import * as Store from "./Store.ts"
import * as Suite from "./Suite.ts"

const world = await Suite.open(Store.memory())
const { handler, dispose } = Http.webHandler(world.routes)
afterAll(async () => {
  await dispose()
  await world.dispose()
})

describe("whatever is sent, made from /openapi.json", () => {
  it("hostile: requests made from /openapi.json get an envelope as documented, and break nothing; a refused one changes nothing", async () => {
    const answered = await Suite.sendAll(world, 25_000, Suite.inProcess(handler))
    assert.deepStrictEqual(Suite.unknown(answered), { neverTaken: [], neverRefused: [] })
  })
})
