import { assert } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Effect } from "effect"
import { Offers } from "@satrail/features/offers/core/Offers"
import { Refunds, type Made } from "@satrail/features/refunds/core/Refunds"
import type { Outcome } from "../src/ledger/Answer.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Transactions } from "../src/reports/Transactions.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import {
  asked,
  company,
  companyWith,
  lightningAddress,
  outside,
  replace,
  request,
  scenario,
  steps
} from "./World.ts"

/**
 * Lets another request take effect after a request found no response for its key, such as a repetition in another
 * process.
 */
const overtaken = () => {
  let other: Effect.Effect<unknown> = Effect.void
  const change = replace(LedgerReads, (reads) => ({
    answer: (owner, key) =>
      Effect.tap(reads.answer(owner, key), () => {
        const now = other
        other = Effect.void
        return now
      })
  }))
  /** Returns the outcome of a request that its repetition overtakes, and then that of the repetition. */
  const twice = Effect.fnUntraced(function* <A, E, R>(create: Effect.Effect<Outcome<A>, E, R>) {
    const outcomes: Array<Outcome<A>> = []
    other = Effect.orDie(
      Effect.map(Effect.provideContext(create, yield* Effect.context<R>()), (outcome) =>
        outcomes.push(outcome)
      )
    )
    return [yield* create, ...outcomes]
  })
  return { change, twice }
}

scenario(
  "withdrawal: a request overtaken by its repetition returns the same response, not that the invoice is paid",
  overtaken,
  function* ({ twice }) {
    const payer = yield* companyWith(1000)
    const { destination } = yield* outside({ sats: 100 })
    const ask = { company: payer, asked: undefined, destination, metadata: {}, request: request("k") }
    const [first, again] = yield* twice(Effect.tap((yield* Withdrawals).confirm(ask), () => steps(1)))
    assert.deepStrictEqual(first, { _tag: "Replayed", answer: again?._tag === "Made" ? again.value.id : "" })
  }
)

scenario(
  "refund: a request overtaken by its repetition returns the same response, not that too little is left to refund",
  overtaken,
  function* ({ twice }) {
    const payee = yield* companyWith(1000)
    const [deposit] = (yield* (yield* Transactions).list(payee.id, { limit: 1 })).rows
    const refund = (yield* Refunds).create({
      company: payee,
      depositId: deposit?.id,
      asked: yield* asked(600),
      destination: undefined,
      description: "",
      expirySeconds: 3600,
      metadata: {},
      request: { ...request("k"), render: ({ refund }: Made) => refund.id }
    })
    const [first, again] = yield* twice(refund)
    assert.deepStrictEqual(first, {
      _tag: "Replayed",
      answer: again?._tag === "Made" ? again.value.refund.id : ""
    })
  }
)

scenario(
  "hold invoice: a request overtaken by its repetition returns the same response, not that the payment hash is taken",
  overtaken,
  function* ({ twice }) {
    const payee = yield* company()
    const invoice = (yield* Invoices).create({
      companyId: payee.id,
      ...(yield* asked(1000)),
      description: "tea",
      expirySeconds: 3600,
      metadata: {},
      hold: { paymentHash: Preimage.hashOf(Preimage.make("0b".repeat(32))) },
      request: request("k")
    })
    const [first, again] = yield* twice(invoice)
    assert.deepStrictEqual(first, { _tag: "Replayed", answer: again?._tag === "Made" ? again.value.id : "" })
  }
)

scenario(
  "offer: a request overtaken by its repetition returns the same response, not that the address has an offer",
  overtaken,
  function* ({ twice }) {
    const payee = yield* company()
    const { id } = yield* lightningAddress(payee)
    const ask = {
      companyId: payee.id,
      memo: "coffee",
      amount: null,
      metadata: {},
      lightningAddressId: id,
      request: request("k")
    }
    const [first, again] = yield* twice((yield* Offers).create(ask))
    assert.deepStrictEqual(first, { _tag: "Replayed", answer: again?._tag === "Made" ? again.value.id : "" })
  }
)
