import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import type { Company } from "@satrail/core/accounts/Company"
import * as Decimal from "@satrail/core/base/Decimal"
import { Checkouts } from "@satrail/features/checkouts/core/Checkouts"
import * as Answer from "@satrail/core/ledger/Answer"
import { Records } from "@satrail/core/service/Records"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Option } from "effect"

const create = Effect.fnUntraced(function* ({ id: companyId }: Company) {
  const asked = { amount: Decimal.make(50_000n), currency: "sats" as const }
  const texts = {
    description: "tea",
    orderId: null,
    metadata: {},
    returnUrl: null,
    cancelUrl: null,
    embedOrigin: null,
    color: null
  }
  const made = (yield* Checkouts).create({
    companyId,
    asked,
    ...texts,
    expirySeconds: 3600,
    tolerancePercent: 0,
    locale: null,
    options: [],
    contact: null
  })
  return yield* Effect.flatMap(made, Answer.made)
})

/**
 * Pays a checkout on a simulated chain, first in part and then in full. `pay` pays an invoice from another node, and
 * must fail for an invoice that was issued before the payment. The workers must be running.
 */
export const covered = Effect.fnUntraced(function* <E, R>(
  company: Company,
  pay: (paymentRequest: string) => Effect.Effect<unknown, E, R>
) {
  const sandbox = yield* Sandbox
  const checkout = yield* create(company)
  const { companyId, id, address } = checkout
  const now = Effect.flatMap(Checkouts, (checkouts) => checkouts.get(companyId, id))
  const invoiceOf = (invoiceId: string) =>
    Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, invoiceId), Option.getOrThrow))
  const closed = (invoiceId: string) =>
    eventually(invoiceOf(invoiceId), ({ status }) => status === "canceled")

  yield* sandbox.send({ address, amount: Msat.fromSats(20_000) })
  const rest = yield* eventually(now, ({ invoiceId }) => invoiceId !== checkout.invoiceId)
  assert.strictEqual((yield* invoiceOf(rest.invoiceId)).amount, Msat.fromSats(30_000))
  yield* closed(checkout.invoiceId)
  yield* Effect.flip(pay(checkout.paymentRequest))

  yield* sandbox.send({ address, amount: Msat.fromSats(30_000) })
  yield* closed(rest.invoiceId)
  yield* Effect.flip(pay(rest.paymentRequest))

  yield* sandbox.mine(6)
  const paid = yield* eventually(now, ({ status }) => status === "paid")
  assert.strictEqual(paid.received, Msat.fromSats(50_000))
})
