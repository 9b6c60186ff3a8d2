import { assert, describe, it } from "@effect/vitest"
import * as Grounds from "./grounds/grounds.ts"
import { day } from "./grounds/program.ts"
import * as Server from "./grounds/Server.ts"

describe("one program", () => {
  it("client: a program does the same in the process and against a server over the network", async () => {
    const pay = await Grounds.inMemory()
    const inProcess = await day(pay, pay.outside.pay)
    await pay.close()
    const server = await Server.start()
    const remote = await day(server.pay, server.service.outside.pay)
    await server.close()
    assert.deepStrictEqual(remote, inProcess)
    assert.deepStrictEqual(remote.shop, [
      { msat: 21_000_000n, sats: 21_000n },
      "settled",
      { order: "1042" },
      "1042",
      true,
      null
    ])
  })
})
