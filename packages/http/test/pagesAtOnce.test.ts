import { afterAll, assert, it } from "@effect/vitest"
import { CheckoutReads } from "@satrail/features/checkouts/core/CheckoutReads"
import * as Page from "@satrail/core/ledger/Page"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Memory from "@satrail/service/memory/Memory"
import { Context, Effect, Layer } from "effect"
import { start } from "./Service.ts"

let [running, most] = [0, 0]

/** Counts the reads that run at the same time. */
const counted = <A, E>(read: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      most = Math.max(most, ++running)
    }),
    () => Effect.andThen(Effect.yieldNow, read),
    () => Effect.sync(() => running--)
  )

const storage: typeof Memory.layer = Layer.effectContext(
  Effect.map(Layer.build(Memory.layer), (context) => {
    const [checkouts, receiving] = [Context.get(context, CheckoutReads), Context.get(context, ReceivingReads)]
    return context.pipe(
      Context.add(CheckoutReads, {
        ...checkouts,
        arrivedFor: (checkout) => counted(checkouts.arrivedFor(checkout))
      }),
      Context.add(ReceivingReads, {
        ...receiving,
        depositOfInvoice: (companyId, id) => counted(receiving.depositOfInvoice(companyId, id))
      })
    )
  })
)

const service = await start({ storage })
afterAll(service.dispose)

it("pages: simultaneous lists of one company leave room in the queue of reads for the payers of others", async () => {
  const { key } = await service.company("paid")
  const count = Page.rowsAtOnce + 6
  for (let n = 0; n < count; n++) {
    const { body } = await service.ask("POST", "/v1/checkouts", {
      key,
      body: { amount: 1000, currency: "sats" }
    })
    const paymentRequest = body.data.payment_request
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
  }
  await service.work()
  for (const path of ["/v1/checkouts", "/v1/bitcoin/deposit/lightning-invoice"]) {
    most = 0
    const lists = await Promise.all(
      Array.from({ length: 2 * Page.pagesAtOnce.each }, () =>
        service.ask("GET", `${path}?limit=1000`, { key })
      )
    )
    for (const { status, body } of lists) assert.deepStrictEqual([status, body.data.length], [200, count])
    assert.strictEqual(most, Page.pagesAtOnce.each * Page.rowsAtOnce, path)
  }
})
