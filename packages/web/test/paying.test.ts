import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Policy from "@satrail/core/service/Policy"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { Settlements } from "@satrail/core/receiving/Settlements"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Option } from "effect"
import * as Outbound from "../src/Outbound.ts"
import * as Resolver from "../src/Resolver.ts"
import { payRequest } from "./Recipients.ts"
import { serve } from "./Server.ts"

const successAction = { tag: "message", message: "Thank you" } as const

/**
 * Builds the whole service, and a server at `wallet.example` whose payees return the invoices that `gives`
 * supplies.
 */
const world = Effect.gen(function* () {
  let give = async (_amount: Msat.Msat): Promise<string> => ""
  const asked: Array<string> = []
  const server = yield* serve(async (request, response) => {
    const url = new URL(request.url ?? "", "https://wallet.example")
    asked.push(url.pathname)
    const amount = url.searchParams.get("amount")
    const said =
      amount === null ? payRequest : { pr: await give(Msat.make(BigInt(amount))), routes: [], successAction }
    response.end(JSON.stringify(said))
  })
  const allow = new Map([["wallet.example", new URL(`http://127.0.0.1:${server.port}`)]])
  const ports = Layer.mergeAll(
    Memory.layer,
    FixedRates.layer(),
    Layer.provideMerge(
      Layer.provide(Resolver.layer, Outbound.layer({ allow })),
      Sandbox.layer({ seed: "paying", network: "regtest" })
    )
  )
  const services = yield* Layer.build(
    Layer.provideMerge(
      Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example" }),
      ports
    )
  )
  return {
    services,
    asked,
    gives: (invoice: (amount: Msat.Msat) => Promise<string>) => {
      give = invoice
    }
  }
})

const sats = (amount: bigint) => ({ amount: Decimal.make(amount), currency: "sats" }) as const

const invoiced = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, amount: bigint) {
  const ask = { companyId, ...sats(amount), description: "tea", expirySeconds: 3600, metadata: {} }
  const made = yield* (yield* Invoices).create(ask)
  return made._tag === "Made" ? made.value : assert.fail()
})

const company = Effect.gen(function* () {
  const opened = yield* (yield* Companies).open({ name: "Acme", plan: "paid" })
  return opened._tag === "Made" ? opened.value : assert.fail()
})

/** Opens a company with this balance. */
const companyWith = Effect.fnUntraced(function* (amount: bigint) {
  const row = yield* company
  const { paymentRequest } = yield* invoiced(row.id, amount)
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  yield* (yield* Settlements).poll
  return row
})

/** Estimates, confirms and sends a payment. */
const sent = Effect.fnUntraced(function* (destination: string) {
  const payer = yield* companyWith(5000n)
  const { estimate, confirm } = yield* Withdrawals
  const ask = { company: payer, asked: sats(700n), destination }
  const estimated = yield* estimate(ask)
  const confirmed = yield* confirm({ ...ask, metadata: {} })
  if (confirmed._tag !== "Made") return assert.fail()
  const { step } = yield* PaymentWorker
  yield* step
  const row = Option.getOrThrow(yield* (yield* Records).withdrawal(payer.id, confirmed.value.id))
  return { estimated, row }
})

describe("an external recipient", () => {
  for (const destination of [
    "Alice@Wallet.example",
    "lnurlp://wallet.example/tea",
    "bitcoin:?lightning=lnurlp://wallet.example/tea"
  ]) {
    it.live(
      `external recipient: ${destination} is paid with an invoice fetched at dispatch, and the success action is stored`,
      () =>
        Effect.gen(function* () {
          const { services, asked, gives } = yield* world
          const { destination: make } = Context.get(services, Sandbox.Sandbox)
          gives((amount) =>
            Effect.runPromise(
              Effect.map(make({ type: "lightning_invoice", amount }), ({ destination }) => destination)
            )
          )
          const { estimated, row } = yield* Effect.provideContext(sent(destination), services)
          assert.strictEqual(estimated.amount, 700_000n)
          assert.isAbove(estimated.successProbability, 0.5)
          assert.deepInclude(row, { status: "settled", successAction, amount: Msat.fromSats(700) })
          const page = destination.includes("@") ? "/.well-known/lnurlp/alice" : "/tea"
          assert.deepStrictEqual(asked, [page, "/cb", page, page, "/cb"], "estimate, confirm, send")
        })
    )
  }

  it.live(
    "external recipient: a server whose invoice is for more than the requested amount is not paid",
    () =>
      Effect.gen(function* () {
        const { services, gives } = yield* world
        const { destination: make } = Context.get(services, Sandbox.Sandbox)
        let more = 0n
        gives((amount) => {
          const asking = Msat.make(amount + more)
          more = 1n
          return Effect.runPromise(
            Effect.map(make({ type: "lightning_invoice", amount: asking }), ({ destination }) => destination)
          )
        })
        const { row } = yield* Effect.provideContext(sent("alice@wallet.example"), services)
        assert.deepInclude(row, { status: "failed", failure: "recipient_refused" })
      })
  )

  it.live(
    "external recipient: if the server returns an invoice issued by this service, the payment is settled internally",
    () =>
      Effect.gen(function* () {
        const { services, gives } = yield* world
        const payee = yield* Effect.provideContext(company, services)
        gives((amount) =>
          Effect.runPromise(
            Effect.provideContext(
              Effect.map(invoiced(payee.id, Msat.toSats(amount)), ({ paymentRequest }) => paymentRequest),
              services
            )
          )
        )
        const { row } = yield* Effect.provideContext(sent("alice@wallet.example"), services)
        assert.deepInclude(row, { status: "settled", networkFee: Msat.zero })
        assert.strictEqual(
          (yield* Effect.provideContext(
            Effect.flatMap(Records, (records) => records.balance(payee.id)),
            services
          )).posted,
          700_000n
        )
      })
  )
})
