import { assert, it } from "@effect/vitest"
import * as Claim from "@satrail/core/sending/Claim"
import * as Claims from "@satrail/core/sending/Claims"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import { eventually } from "../Service.ts"
import * as Callers from "./Callers.ts"
import { suite } from "./Suite.ts"

// Claims last as long as with an LDK node, and clocks are not moved, so a withdrawal that waits for the end of a
// claim takes at least that long.
const graceMillis = 60_000
const more = { GRACE_MILLIS: String(graceMillis) }

suite("PostgreSQL is killed under load", { more, clocksMove: false }, (cluster) => {
  it("outage: every acknowledged request is recorded, and every other request takes effect at most once", async () => {
    const callers = await Callers.make(cluster(), 24)
    await callers.during(async () => {
      for (let times = 1; times <= 2; times++) {
        await callers.grows("answers", callers.answers, 100)
        await cluster().postgres.stop("immediate")
        await callers.grows("requests without a response", callers.losses, callers.count)
        await cluster().postgres.restart()
      }
      await callers.grows("answers again", callers.answers, 100)
    })
    await callers.served()
    assert.strictEqual(await callers.missing(), 0)
    await callers.agree()
    const installation = PostgresServer.find()
    if ("missing" in installation) return assert.fail(installation.missing)
    const longest = "select max(updated_at_millis - created_at_millis) from satrail.withdrawals"
    assert.isBelow(
      Number(Client.query(installation, cluster().postgres.url, longest)),
      Claim.leaseMillis(graceMillis)
    )
  })

  it("outage: withdrawals whose result no process could record settle before the claims on them end", async () => {
    const shop = await cluster().company()
    await Customer.fund(shop, 100_000)
    const payees = await Customer.times(24, () =>
      Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
    )
    const calls = cluster().hold("after pay")
    const startedMillis = performance.now()
    const sent = await Promise.all(
      payees.map(({ destination }) => Customer.data(201, Customer.confirm(shop, destination, 1000)))
    )
    await eventually("payments at the node", calls.waiting, (all) => all.length === sent.length)
    await cluster().postgres.stop("immediate")
    calls.open()
    // After this time, each process takes the others for dead.
    await pass(Claims.presence.aliveMillis + Claims.presence.everyMillis)
    await cluster().postgres.restart()
    await eventually(
      "a result of every withdrawal",
      () => Promise.all(sent.map(({ id }) => shop.get(`/v1/transactions/withdrawals/${id}`))),
      (answers) => answers.every(({ data }) => data?.status === "settled")
    )
    assert.isBelow(performance.now() - startedMillis, Claim.leaseMillis(graceMillis))
  })
})
