// The core inside an Effect program: a company receives a Lightning payment and sends one. Nothing is stored
// and the network is simulated. Each line of `ports` can be replaced with a real adapter. Run it: npm run
// example -- embed-effect
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Msat } from "@satrail/bitcoin"
import {
  Answer,
  Balance,
  Companies,
  Decimal,
  Invoices,
  Policy,
  Satrail,
  Transactions,
  Withdrawals
} from "@satrail/service"
import { Fee } from "@satrail/service/records"
import { Memory } from "@satrail/service/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Console, Effect, Layer, Schedule } from "effect"
import assert from "node:assert/strict"

const ports = Layer.mergeAll(
  Memory.layer, // storage; to keep it, use Storage.layer of @satrail/postgres
  Sandbox.layer({ seed: "embed-effect", network: "regtest" }), // our nodes, and the outside world
  FixedRates.layer() // the price of bitcoin
)

// Every service, and the workers that credit deposits and send confirmed withdrawals.
const satrail = Satrail.layerWorkers.pipe(
  Layer.provideMerge(Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })),
  Layer.provideMerge(ports)
)

const sats = (amount: bigint) => ({ amount: Decimal.make(amount), currency: "sats" as const })

/** Polls until the condition holds, for at most ten seconds. */
const until = <A, E, R>(look: Effect.Effect<A, E, R>, isSo: (seen: A) => boolean) =>
  look.pipe(
    Effect.repeat({ until: isSo, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("10 seconds")
  )

const program = Effect.gen(function* () {
  const companies = yield* Companies.Companies
  const invoices = yield* Invoices.Invoices
  const withdrawals = yield* Withdrawals.Withdrawals
  const transactions = yield* Transactions.Transactions
  const outside = yield* Sandbox.Sandbox

  const company = yield* companies
    .open({ name: "Corner Café", plan: "free" })
    .pipe(Effect.flatMap(Answer.made))
  const balance = transactions.balance(company.id)

  // Receive.
  const coffee = { description: "Coffee for all", expirySeconds: 600, metadata: { table: "4" } }
  const invoice = yield* invoices
    .create({ companyId: company.id, ...sats(25_000n), ...coffee })
    .pipe(Effect.flatMap(Answer.made))
  yield* Console.log(`invoice    ${invoice.paymentRequest.slice(0, 48)}…`)
  yield* outside.pay({ paymentRequest: invoice.paymentRequest })
  yield* until(invoices.get(company.id, invoice.id), ({ status }) => status === "settled")
  yield* Console.log(`paid       the balance is ${Msat.toSats(Balance.available(yield* balance))} sats`)

  // Send.
  const { destination } = yield* outside.destination({ type: "lightning_address" })
  const ask = { company, asked: sats(10_000n), destination }
  const estimate = yield* withdrawals.estimate(ask)
  const fee = Fee.total(estimate.fee)
  yield* Console.log(
    `estimate   10000 sats to ${estimate.recipient} would cost ${Number(fee) / 1000} sats more, and work with ${estimate.successProbability}`
  )
  const withdrawal = yield* withdrawals.confirm({ ...ask, metadata: {} }).pipe(Effect.flatMap(Answer.made))
  yield* Console.log(
    `confirmed  it is ${withdrawal.status}, and ${Msat.toSats((yield* balance).held)} sats are held for it`
  )
  const ended = yield* until(
    transactions.withdrawal(company.id, withdrawal.id),
    ({ status }) => status !== "pending"
  )
  yield* Console.log(`sent       it is ${ended.status}; the proof is ${ended.preimage}`)

  const { rows: lines } = yield* transactions.list(company.id, { limit: 10 })
  for (const { type, amount, fee, status } of lines) {
    yield* Console.log(
      `           ${type} of ${Msat.toSats(amount)} sats, fee ${Number(fee) / 1000}, ${status}`
    )
  }
  const rest = yield* balance
  yield* Console.log(`balance    ${Number(Balance.available(rest)) / 1000} sats`)

  assert.equal(ended.status, "settled")
  assert.equal(rest.posted, Msat.make(25_000_000n - 10_000_000n - fee))
  assert.equal(rest.held, Msat.zero)
  assert.deepEqual(
    lines.map(({ type }) => type),
    ["withdrawal", "deposit"]
  )
})

NodeRuntime.runMain(Effect.provide(program, satrail))
