import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox, type SandboxRefused } from "@satrail/sandbox/Sandbox"
import { Clock, Context, Effect, Fiber, Option, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import { ChainDeposits } from "../src/receiving/ChainDeposits.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { OnChainAddresses } from "../src/receiving/OnChainAddresses.ts"
import { Settlements } from "../src/receiving/Settlements.ts"
import { Records } from "../src/Records.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { Vouchers } from "../src/sending/Vouchers.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { type Fate, mortal } from "./Mortal.ts"
import { settings } from "./Rows.ts"
import {
  accounts,
  asked,
  audited,
  beginsAtMillis,
  company,
  companyWith,
  confirm,
  has,
  invoice,
  inWorld,
  lightningAddress,
  made,
  onChainAddress,
  outside,
  type Ports,
  type Process,
  replace,
  request,
  start
} from "./World.ts"

/** A story in rounds. In each something may happen outside, and then the process does what is to be done. */
interface Telling {
  readonly companies: ReadonlyArray<Company>
  readonly rounds: number
  /** What happens outside before a round, whether a process lives or not. */
  readonly events?: { readonly [round: number]: Effect.Effect<unknown, SandboxRefused, Sandbox | Ports> }
  /** What a caller asks of the process in each round, over and over, until it has an answer. */
  readonly ask?: Effect.Effect<unknown, unknown, Process>
  /** What mining does cost depends on who goes together, which a process that dies may change: then it is no part of the end. */
  readonly atAnyCost?: boolean
  /** A call that it is about, when nobody dies. */
  readonly makes?: string
  /** Who works besides the worker: whoever asks about open invoices, listens to the node's notices, follows the chain, or voids vouchers. */
  readonly also?: ReadonlyArray<"poll" | "listen" | "follow" | "vouchers">
}
type Story = Effect.Effect<Telling, unknown, Ports | Process | Scope.Scope>

/** All work there is, once. An outage in one part of it does not keep the others from theirs, as workers are apart. */
const work = ({ also = [] }: Telling) =>
  Effect.gen(function* () {
    const [worker, settlements, deposits] = [yield* PaymentWorker, yield* Settlements, yield* ChainDeposits]
    yield* Effect.exit(worker.step)
    if (also.includes("poll")) yield* Effect.exit(settlements.poll)
    if (also.includes("listen")) yield* Effect.timeoutOption(Effect.exit(settlements.listen()), "30 seconds")
    if (also.includes("vouchers")) yield* Effect.exit((yield* Vouchers).step)
    if (also.includes("follow")) yield* Effect.exit(deposits.follow())
  })

/** How it ended, without what differs from one telling to the next: ids, times and what follows from them. */
const ending = Effect.fnUntraced(function* ({ companies, atAnyCost = false }: Telling) {
  const records = yield* Records
  const lines = yield* Effect.forEach(
    companies,
    Effect.fnUntraced(function* (company) {
      const transactions = yield* records.transactions(company.id, { limit: 100 })
      const details = yield* Effect.forEach(
        transactions,
        Effect.fnUntraced(function* ({ id, type, status, amount }) {
          if (type === "deposit") return `${type} ${status} ${amount} ${Option.getOrThrow(yield* records.deposit(company.id, id)).absorbed}`
          const { failure, networkFee, preimage } = Option.getOrThrow(yield* records.withdrawal(company.id, id))
          return `${type} ${status} ${amount} ${failure} ${atAnyCost ? "" : networkFee} ${preimage === null}`
        })
      )
      return { ...(yield* has(company)), transactions: details.toSorted() }
    })
  )
  const payments = (yield* (yield* Sandbox).payments).map(({ times, received }) => [times, received])
  return { lines, payments, ...(!atAnyCost && { accounts: yield* accounts }) }
})

/** Tells the story once. The first process may meet its fate; another one, that knows nothing of it, goes on where it died. */
const tell = (story: Story, at: number, fate: Fate, world: Parameters<typeof inWorld>[1] = {}) =>
  inWorld(
    Effect.gen(function* () {
      let calls: ReadonlyArray<string> = []
      let makes = ""
      const end = yield* audited(
        Effect.gen(function* () {
          const telling = yield* story
          makes = telling.makes ?? ""
          const ports = yield* Effect.context<Ports>()
          const first = yield* mortal(ports, at, fate)
          calls = first.calls
          let process = yield* start(first.ports, world.settings)
          let isFirst = true
          let answered = false
          for (let round = 0; round < telling.rounds; round++) {
            yield* telling.events?.[round] ?? Effect.void
            const all = Effect.gen(function* () {
              if (telling.ask !== undefined && !answered) {
                answered = (yield* Effect.exit(telling.ask))._tag === "Success"
              }
              yield* work(telling)
            })
            const fiber = yield* Effect.forkDetach(Effect.provideContext(all, Context.merge(ports, Context.merge(first.ports, process))))
            const isOver = () => fiber.pollUnsafe() !== undefined || (isFirst && first.isDead())
            for (let turn = 0; !isOver(); turn++) yield* turn < 200 ? Effect.yieldNow : TestClock.adjust("30 seconds") // where it sleeps
            if (isFirst && first.isDead()) {
              isFirst = false
              process = yield* start(ports, world.settings)
            } else yield* Fiber.join(fiber)
            yield* TestClock.adjust("125 seconds") // longer than any claim lasts
          }
          return yield* ending(telling)
        })
      )
      return { end, calls, makes }
    }),
    world
  )

const release = (paymentHash: PaymentHash.PaymentHash | undefined, outcome: "settle" | "fail") =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome }))
const pay = (paymentRequest: string, hold = false) => Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest, hold }))
const mine = (blocks: number) => Effect.flatMap(Sandbox, (sandbox) => sandbox.mine(blocks))
const reorg = (depth: number) => Effect.flatMap(Sandbox, (sandbox) => sandbox.reorg(depth))

const toOutside = (ask: Parameters<typeof outside>[0]) =>
  Effect.gen(function* () {
    const payer = yield* companyWith(5000)
    const { destination, paymentHash } = yield* outside({ sats: 1000, ...ask })
    yield* confirm(payer, destination)
    return { payer, paymentHash }
  })

const voucher = Effect.fnUntraced(function* (payer: Company, expirySeconds: number) {
  const ask = { company: payer, ...(yield* asked(1000)), description: "", expirySeconds, metadata: {} }
  const { url } = yield* made((yield* Vouchers).create(ask))
  return { ask, k1: new URL(Redacted.value(url)).searchParams.get("k1") ?? "" }
})

const stories: Readonly<Record<string, Story>> = {
  "a payment that settles": Effect.map(toOutside({}), ({ payer }) => ({ companies: [payer], rounds: 4 })),
  "a payment that fails": Effect.map(toOutside({ behaviour: "fail" }), ({ payer }) => ({ companies: [payer], rounds: 4 })),
  "a payment without an answer that settles": Effect.map(toOutside({ behaviour: "unknown_then_settle" }), ({ payer }) => ({
    companies: [payer],
    rounds: 7
  })),
  "a payment without an answer that fails": Effect.map(toOutside({ behaviour: "unknown_then_fail" }), ({ payer }) => ({
    companies: [payer],
    rounds: 7
  })),
  "a payment that is held and settles": Effect.map(toOutside({ behaviour: "hold" }), ({ payer, paymentHash }) => ({
    companies: [payer],
    rounds: 7,
    events: { 3: release(paymentHash, "settle") }
  })),
  "a payment that is held and fails": Effect.map(toOutside({ behaviour: "hold" }), ({ payer, paymentHash }) => ({
    companies: [payer],
    rounds: 7,
    events: { 3: release(paymentHash, "fail") }
  })),
  "a payment to a Lightning address": Effect.gen(function* () {
    const payer = yield* companyWith(5000)
    // Of one payee: its next invoice costs as much to pay as its first one.
    yield* confirm(payer, (yield* outside({ type: "lightning_address", payee: "birch" })).destination, 1000)
    return { companies: [payer], rounds: 4 }
  }),
  "a payment of one of our invoices": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    yield* confirm(payer, (yield* invoice(payee, 1000)).paymentRequest)
    return { companies: [payer, payee], rounds: 4 }
  }),
  "a payment of one of our invoices, which the outside was first to pay": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const { paymentRequest, paymentHash } = yield* invoice(payee, 1000)
    yield* confirm(payer, paymentRequest)
    yield* pay(paymentRequest, true)
    return { companies: [payer, payee], rounds: 4, also: ["poll"], events: { 2: release(paymentHash, "settle") } }
  }),
  "a payment to one of our Lightning addresses": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    yield* lightningAddress(payee, "tea")
    yield* confirm(payer, "tea@pay.example", 1000)
    return { companies: [payer, payee], rounds: 3 }
  }),
  "a payout on the chain": Effect.gen(function* () {
    const payer = yield* companyWith(50_000)
    yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 20_000)
    return { companies: [payer], rounds: 7, events: { 3: mine(1), 5: mine(1) } }
  }),
  "a withdrawal that is asked for with a key": Effect.gen(function* () {
    const payer = yield* companyWith(5000)
    const { destination } = yield* outside({ sats: 1000 })
    const ask = Effect.flatMap(Withdrawals, ({ confirm }) =>
      confirm({ company: payer, asked: undefined, destination, metadata: {}, request: request("k") })
    )
    return { companies: [payer], rounds: 4, ask }
  }),
  "a voucher that is claimed": Effect.gen(function* () {
    const payer = yield* companyWith(5000)
    const { k1 } = yield* voucher(payer, 3600)
    const { destination } = yield* outside({ sats: 1000 })
    const ask = Effect.flatMap(Vouchers, ({ claim }) => claim({ k1, pr: destination, caller: "wallet" }))
    return { companies: [payer], rounds: 4, ask, also: ["vouchers"] }
  }),
  "a voucher that is asked for with a key, and that nobody claims": Effect.gen(function* () {
    const payer = yield* companyWith(5000)
    const { ask: first } = yield* voucher(payer, 60)
    const ask = Effect.flatMap(Vouchers, ({ create }) =>
      create({ ...first, request: { key: "k", fingerprint: "body", render: ({ voucher }) => voucher.id } })
    )
    return { companies: [payer], rounds: 4, ask, also: ["vouchers"] }
  }),
  "an invoice that is asked for with a key, and paid": Effect.gen(function* () {
    const payee = yield* company()
    const amount = yield* asked(1000)
    const ask = Effect.flatMap(Invoices, ({ create }) =>
      create({
        ...amount,
        companyId: payee.id,
        description: "",
        expirySeconds: 3600,
        metadata: {},
        request: request("k")
      })
    )
    const paid = Effect.gen(function* () {
      const [row] = yield* (yield* Records).openInvoices(null, 2)
      if (row !== undefined) yield* pay(row.paymentRequest)
    }).pipe(Effect.catchTag("StoreUnavailable", Effect.die))
    return { companies: [payee], rounds: 4, also: ["poll"], ask, events: { 2: paid } }
  }),
  "invoices whose payments the node tells of": Effect.gen(function* () {
    const payee = yield* company()
    const paid = yield* Effect.forEach([1000, 1001, 1002], (sats) => invoice(payee, sats))
    return {
      companies: [payee],
      rounds: 4,
      also: ["listen"],
      events: { 0: Effect.forEach(paid.slice(0, 2), ({ paymentRequest }) => pay(paymentRequest)), 1: pay(paid[2]?.paymentRequest ?? "") }
    }
  }),
  "invoices whose payments are found by asking": Effect.gen(function* () {
    const payee = yield* company()
    const paid = yield* Effect.forEach([1000, 1001, 1002], (sats) => invoice(payee, sats))
    yield* Effect.forEach(paid, ({ paymentRequest }) => pay(paymentRequest))
    return { companies: [payee], rounds: 2, also: ["poll"] }
  }),
  "a deposit to an address that is asked for with a key": Effect.gen(function* () {
    const payee = yield* company()
    const ask = Effect.flatMap(OnChainAddresses, ({ create }) =>
      create({ companyId: payee.id, type: "taproot", metadata: {}, request: request("k") })
    )
    const sent = Effect.gen(function* () {
      const [row] = yield* (yield* Records).allOnChainAddresses(null, 2)
      if (row !== undefined) yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(30_000) })
    }).pipe(Effect.catchTag("StoreUnavailable", Effect.die))
    return { companies: [payee], rounds: 6, also: ["follow"], ask, events: { 2: sent, 3: mine(1), 4: mine(1) } }
  }),
  "a deposit that a reorganisation takes away and the next block brings back": Effect.gen(function* () {
    const payee = yield* company()
    const { address } = yield* onChainAddress(payee)
    const send = Effect.flatMap(Sandbox, (sandbox) => sandbox.send({ address, amount: Msat.fromSats(30_000) }))
    return { companies: [payee], rounds: 6, also: ["follow"], events: { 0: send, 1: mine(2), 2: reorg(2), 3: mine(1), 4: mine(1) } }
  }),
  "a deposit that is partly spent and then double spent": Effect.gen(function* () {
    const [payee, other] = [yield* company(), yield* company()]
    const { address } = yield* onChainAddress(payee)
    const txId = yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(30_000) })
    yield* mine(2)
    yield* (yield* ChainDeposits).follow()
    yield* lightningAddress(other, "tea")
    yield* confirm(payee, "tea@pay.example", 20_000)
    yield* (yield* PaymentWorker).step
    const replaced = Effect.flatMap(Sandbox, (sandbox) => Effect.andThen(sandbox.reorg(2), sandbox.doubleSpend(txId)))
    return { companies: [payee, other], rounds: 5, also: ["follow"], events: { 1: replaced, 3: mine(1) } }
  })
}

/** Payouts go out together, and are replaced after five minutes, when mining costs twice what it did. */
const together = {
  settings: { ...settings, payoutWindowMillis: 60_000, replacement: { afterMillis: 300_000, allowances: 3 } },
  change: replace(ChainSource, (chain) =>
    ChainSource.of({ ...chain, feeRate: Effect.map(Clock.currentTimeMillis, (millis) => (millis < beginsAtMillis + 300_000 ? 2 : 4)) })
  )
}

const threePayouts = Effect.gen(function* () {
  const companies = [yield* companyWith(100_000), yield* companyWith(50_000)]
  for (const [n, sats] of [20_000, 30_000, 40_000].entries()) {
    yield* confirm(companies[n % 2] ?? assert.fail(), (yield* outside({ type: "chain_address" })).destination, sats)
  }
  return companies
})

const storiesTogether: Readonly<Record<string, Story>> = {
  "three payouts of two companies in one transaction": Effect.map(threePayouts, (companies) => ({
    companies,
    rounds: 9,
    atAnyCost: true,
    events: { 3: mine(1), 5: mine(1), 7: mine(6) }
  })),
  "three payouts of two companies in one transaction, that is replaced": Effect.map(threePayouts, (companies) => ({
    companies,
    rounds: 9,
    atAnyCost: true,
    makes: "WithdrawalReplaced",
    events: { 6: mine(6), 7: mine(6) }
  }))
}

/** Has every story end as it does undisturbed, whichever of these fates meets whichever of its calls. */
export const holds = (fatesOf: (call: number) => ReadonlyArray<Fate>): void => {
  const all = [...Object.entries(stories), ...Object.entries(storiesTogether)]
  for (const [title, story] of all) {
    const world = title in storiesTogether ? together : undefined
    it.effect(`C10: crash: ${title}`, () =>
      Effect.gen(function* () {
        const undisturbed = yield* tell(story, Infinity, "dies before", world)
        assert.isTrue(undisturbed.calls.length >= 5)
        if (undisturbed.makes !== "") assert.include(undisturbed.calls, undisturbed.makes)
        for (let at = 1; at <= undisturbed.calls.length; at++) {
          for (const fate of fatesOf(at)) {
            const { end, calls } = yield* tell(story, at, fate, world)
            assert.deepStrictEqual(end, undisturbed.end, `${fate} call ${at} of ${undisturbed.calls.length}, ${calls.join(" ")}`)
          }
        }
      })
    )
  }
}
