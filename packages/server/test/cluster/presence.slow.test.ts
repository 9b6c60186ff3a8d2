import { assert, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import * as Customer from "../Customer.ts"
import { quickest } from "@satrail/testing/Waiting"
import { eventually, leaseMillis } from "../Service.ts"
import { suite } from "./Suite.ts"

// Clocks are not advanced, so a claim ends early only if its process is detected as missing.
suite("a single process is killed and started again", { size: 1, clocksMove: false }, (cluster) => {
  it("C10: crash: a withdrawal dispatched by a killed process settles long before the process's claim would expire", async () => {
    const shop = await cluster().company()
    await Customer.fund(shop, 50_000)
    let deaths = 0
    const tookMillis = await quickest(leaseMillis / 2, async () => {
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      // The process has run for a while, so its presence is recorded.
      writeFileSync(cluster().points.death, "after pay")
      const { id } = await Customer.data(
        201,
        Customer.confirm(shop, destination, 1000, { "Idempotency-Key": `presence-${deaths++}` })
      )
      await eventually(
        "the killing of the process",
        async () => cluster().deaths(),
        (count) => count === deaths
      )
      await cluster().complete()
      const restarted = performance.now()
      await Customer.until(shop, `/v1/transactions/withdrawals/${id}`, ({ status }) => status === "settled")
      return performance.now() - restarted
    })
    console.log(`settled ${Math.round(tookMillis)} ms after the restart; a claim lasts ${leaseMillis} ms`)
    assert.isBelow(tookMillis, leaseMillis / 2)
    assert.strictEqual(await Customer.balance(shop), 50_000 - deaths * 1012)
  })
})
