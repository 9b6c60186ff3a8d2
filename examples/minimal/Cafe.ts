// The smallest program: only invoices, withdrawals and the ledger, without features, events or reports.
import { Msat } from "@satrail/bitcoin"
import {
  Answer,
  Balance,
  Companies,
  Decimal,
  Invoices,
  LedgerReads,
  Money,
  Policy,
  Withdrawals
} from "@satrail/core/money"
import { Memory } from "@satrail/service/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, Schedule } from "effect"

const ports = Layer.mergeAll(
  Memory.layer,
  Sandbox.layer({ seed: "minimal", network: "regtest" }),
  FixedRates.layer()
)

const service = Money.layerWorkers.pipe(
  Layer.provideMerge(Money.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })),
  Layer.provideMerge(ports)
)

const sats = (amount: bigint) => ({ amount: Decimal.make(amount), currency: "sats" as const })

/** Receives 25,000 sats, sends 10,000, and returns what is left. `started` is called as soon as the service runs. */
export const day = (started: () => void) =>
  Effect.gen(function* () {
    started()
    const company = yield* Effect.flatMap(
      (yield* Companies.Companies).open({ name: "Corner Café", plan: "free" }),
      Answer.made
    )
    const invoices = yield* Invoices.Invoices
    const ask = {
      companyId: company.id,
      ...sats(25_000n),
      description: "Coffee for all",
      expirySeconds: 600,
      metadata: {}
    }
    const { paymentRequest } = yield* Effect.flatMap(invoices.create(ask), Answer.made)
    const outside = yield* Sandbox.Sandbox
    yield* outside.pay({ paymentRequest })

    const { balance } = yield* LedgerReads.LedgerReads
    const until = (isSo: (now: Balance.Balance) => boolean) =>
      balance(company.id).pipe(
        Effect.repeat({ until: isSo, schedule: Schedule.spaced("20 millis") }),
        Effect.timeout("10 seconds")
      )
    yield* until((now) => Balance.available(now) > 0n)

    const { destination } = yield* outside.destination({ type: "lightning_address" })
    const withdrawals = yield* Withdrawals.Withdrawals
    yield* Effect.flatMap(
      withdrawals.confirm({ company, asked: sats(10_000n), destination, metadata: {} }),
      Answer.made
    )
    return Msat.toSats(Balance.available(yield* until(({ held }) => held === 0n)))
  }).pipe(Effect.provide(service))
