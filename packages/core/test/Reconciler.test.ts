import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Clock, Context, Effect, Layer, Logger, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { hex } from "@scure/base"
import * as Id from "../src/base/Id.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { ChainBooks } from "../src/nodes/ChainBooks.ts"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import { LightningBooks, type Sent } from "../src/nodes/LightningBooks.ts"
import { type InvoiceState, LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { Signer } from "../src/nodes/Signer.ts"
import * as Deposit from "../src/receiving/Deposit.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import type { Difference } from "../src/reports/reconciliation/Difference.ts"
import * as Reconciler from "../src/reports/reconciliation/Reconciler.ts"
import { ownFunds, Reconciliation } from "../src/reports/reconciliation/Reconciliation.ts"
import { Records } from "../src/service/Records.ts"
import * as Payout from "../src/sending/Payout.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { settings } from "./Rows.ts"
import {
  company,
  companyWith,
  confirm,
  follow,
  invoice,
  inWorld,
  mine,
  now,
  onChainAddress,
  outside,
  paying,
  poll,
  type Ports,
  type Process,
  replace,
  scenario,
  sound,
  step,
  steps,
  type Steps,
  type World
} from "./World.ts"

const { graceMillis, forgetMillis } = settings.reconciliation

/** Runs one comparison on these ports. */
const lookOn = Effect.fnUntraced(function* (ports: Context.Context<Ports | Process>) {
  const services = yield* Layer.build(Layer.fresh(Reconciler.layer)).pipe(Effect.provideContext(ports))
  return yield* Context.get(services, Reconciler.Reconciler).run()
})

const look = Effect.flatMap(Effect.context<Ports | Process>(), lookOn)

/** The operator's report. */
const report = Effect.map(
  Effect.flatMap(Reconciliation, ({ last }) => last),
  Option.getOrThrow
)

const brief = ({ cause, ours, theirs }: Difference) => [
  cause,
  ours === null ? null : Number(ours) / 1000,
  theirs === null ? null : Number(theirs) / 1000
]

/**
 * Returns the discrepancies reported after the grace period, each with its cause, the amount in the ledger and
 * the amount at the node or wallet, in sats.
 */
const told = Effect.gen(function* () {
  const ports = yield* Effect.context<Ports | Process>()
  yield* lookOn(ports)
  yield* TestClock.adjust(graceMillis)
  yield* lookOn(ports)
  return (yield* report).differences.map(brief)
})

/** Does the same as `told` with changed ports, as if the change had always applied. */
const toldBy = (change: (ports: Context.Context<Ports | Process>) => Context.Context<Ports | Process>) =>
  Effect.flatMap(Effect.context<Ports | Process>(), (ports) => Effect.provideContext(told, change(ports)))

const paid = Effect.fnUntraced(function* (sats: number, behaviour: "settle" | "hold" = "settle") {
  const { payer, row } = yield* paying(50_000, { sats, behaviour })
  yield* step
  return { payer, row: yield* now(row) }
})

/** Makes our node pay an external payee without a withdrawal. */
const behindOurBack = Effect.fnUntraced(function* (sats: number, behaviour: "settle" | "hold" = "settle") {
  const { destination } = yield* outside({ sats, behaviour })
  const invoice = Result.getOrThrow(Bolt11.decode(destination))
  yield* (yield* LightningSender).pay({ invoice, amount: Msat.fromSats(sats), feeLimit: Msat.fromSats(1000) })
  return invoice
})

/** Spends from our wallet, like a thief with our keys. Returns the total cost. */
const stolen = Effect.fnUntraced(function* (sats: number) {
  const { destination } = yield* outside({ type: "chain_address" })
  const { scriptPubKey } = Result.getOrThrow(BitcoinAddress.decode(destination, "regtest"))
  const draft = yield* (yield* ChainWallet).build({
    payments: [{ scriptPubKey, amount: Msat.fromSats(sats), feeLimit: Msat.fromSats(1000) }],
    feeRate: 2,
    free: (outpoints) => Effect.succeed(new Set(outpoints))
  })
  const { rawTx } = yield* (yield* Signer).sign(draft.psbt)
  yield* (yield* ChainSource).broadcast(rawTx)
  yield* mine(1)
  return sats + Number(draft.fee) / 1000
})

/** Defines a scenario that starts after a first comparison. */
const begun = (title: string, world: World, steps: Steps<World>) =>
  scenario(title, world, function* () {
    yield* look
    yield* Effect.gen(() => steps(world))
  })

/** Changes each payment in the node's records. */
const booked = (change: (line: Sent) => Sent) =>
  replace(LightningBooks, ({ sent }) => ({
    sent: (after) => Effect.map(sent(after), (page) => ({ ...page, lines: page.lines.map(change) }))
  }))

/** A node whose records list nothing new, so that our payments are looked up one by one. */
const unheard = replace(LightningBooks, () => {
  const nothing = (after: string | null) => Effect.succeed({ lines: [], cursor: after ?? "" })
  return { sent: nothing, taken: nothing }
})

describe("Reconciling offer payments", () => {
  const byOffer = Effect.fnUntraced(function* (sats: number, behaviour: "settle" | "hold" = "settle") {
    const { payer, row } = yield* paying(50_000, { type: "bolt12_offer", sats, behaviour })
    yield* step
    return { payer, row: yield* now(row) }
  })

  begun(
    "reconciliation: an offer payment is matched by its attempt, whether the node reports the payment or the service looks it up",
    { isPending: true },
    function* () {
      yield* byOffer(1000)
      assert.deepStrictEqual(yield* told, [])
      yield* byOffer(2000, "hold")
      assert.deepStrictEqual(yield* told, [])
      yield* byOffer(3000)
      assert.deepStrictEqual(yield* toldBy(unheard), [])
    }
  )

  begun(
    "reconciliation: two offer payments with the same hash count as two payments",
    { isPending: true },
    function* () {
      const hash = PaymentHash.make("ab".repeat(32))
      yield* byOffer(1000)
      yield* byOffer(2000)
      assert.deepStrictEqual(yield* toldBy(booked((line) => ({ ...line, paymentHash: hash }))), [])
    }
  )

  begun(
    "reconciliation: an offer payment without a withdrawal, or with a different amount, is a discrepancy",
    { isPending: true, logsErrors: true },
    function* () {
      const { row } = yield* byOffer(1000)
      const bySomebody = booked((line) => ({ ...line, attempt: crypto.randomUUID() }))
      assert.deepInclude(yield* toldBy(bySomebody), ["payment_not_ours", null, 1000])
      yield* byOffer(2000)
      assert.deepInclude(yield* toldBy(booked((line) => ({ ...line, attempt: "a name" }))), [
        "payment_not_ours",
        null,
        2000
      ])
      yield* byOffer(3000)
      const more = booked((line) => ({ ...line, amount: Msat.make(line.amount + 1000n) }))
      assert.deepInclude(yield* toldBy(more), ["payment_amount", 3000, 3001])
      assert.strictEqual(row.status, "settled")
    }
  )
})

describe("Reconciling the ledger with the node and the wallet", () => {
  begun(
    "reconciliation: no discrepancy is found while all kinds of payments are in flight",
    { isPending: true },
    function* () {
      const sandbox = yield* Sandbox
      const payee = yield* company()
      const { payer } = yield* paid(1000)
      // Incoming: paid, held, and paid without a notification. On-chain: credited, in a block, and unconfirmed.
      yield* sandbox.pay({ paymentRequest: (yield* invoice(payee, 300)).paymentRequest, hold: true })
      yield* sandbox.loseNextNotice
      yield* sandbox.pay({ paymentRequest: (yield* invoice(payee, 400)).paymentRequest })
      const { address } = yield* onChainAddress(payee)
      for (const blocks of [3, 1, 0]) {
        yield* sandbox.send({ address, amount: Msat.fromSats(70_000) })
        if (blocks > 0) yield* mine(blocks)
        yield* follow
      }
      // Outgoing: held by the payee, without a known outcome, failed, to one of our companies, and to an address.
      for (const behaviour of ["hold", "unknown_then_settle", "fail"] as const)
        yield* confirm(payer, (yield* outside({ sats: 500, behaviour })).destination)
      yield* confirm(payer, (yield* invoice(payee, 600)).paymentRequest)
      const payout = yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 5000)
      yield* look
      yield* poll
      assert.deepStrictEqual(yield* told, [])
      yield* step
      yield* look
      yield* steps(6)
      assert.deepStrictEqual(yield* told, [])
      assert.strictEqual((yield* now(payout)).status, "pending")
      const { chain } = yield* report
      assert.isBelow(Number(chain.least), 0)
      assert.isAbove(Number(chain.most), 0)
      yield* mine(2)
      yield* follow
      yield* steps(5)
      assert.deepStrictEqual(yield* told, [])
      // A reorganization removes the blocks of the credited deposit and of the payout. New blocks then include
      // both again.
      yield* sandbox.reorg(3)
      yield* follow
      assert.deepStrictEqual(yield* told, [])
      yield* mine(4)
      yield* follow
      yield* steps(2)
      assert.deepStrictEqual(yield* told, [])
      yield* sound
    }
  )

  scenario(
    "reconciliation: an opening discrepancy is posted as operator equity",
    { isPending: true },
    function* () {
      yield* paid(1000)
      yield* behindOurBack(700)
      const { node, chain, found, watched } = yield* look
      assert.deepStrictEqual([found, watched], [[], []])
      assert.strictEqual(node.own, Msat.make(node.owned - node.ledger))
      assert.strictEqual(chain.own, chain.owned)
      assert.deepStrictEqual(yield* told, [])
    }
  )

  scenario("reconciliation: equity is determined when nothing is in flight", function* () {
    const { row: payout } = yield* paying(5000, { type: "chain_address" }, 1000)
    yield* step
    assert.strictEqual((yield* look).chain.own, null)
    assert.notStrictEqual((yield* look).node.own, null)
    yield* mine(1)
    yield* steps(3)
    assert.strictEqual((yield* now(payout)).status, "settled")
    const { chain } = yield* look
    assert.strictEqual(chain.own, Msat.make(chain.owned - chain.ledger))
  })

  it.effect("reconciliation: a discrepancy is reported only after the grace period, and logged once", () => {
    const logged: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    return inWorld(
      Effect.gen(function* () {
        yield* look
        yield* behindOurBack(700)
        logged.length = 0
        const reported = Effect.map(report, ({ differences }) => differences.length)
        yield* look
        yield* TestClock.adjust(graceMillis - 1)
        yield* look
        assert.deepStrictEqual([yield* reported, logged.length], [0, 0])
        yield* TestClock.adjust(1)
        yield* look
        assert.strictEqual(yield* reported, 2)
        yield* look
        assert.strictEqual(JSON.stringify(logged).match(/reconciliation: discrepancy/g)?.length, 2)
      }).pipe(Effect.provide(logger))
    )
  })

  begun(
    "reconciliation: a discrepancy is reported even if no run follows its first one until it would no longer be tracked",
    { logsErrors: true, isPending: true },
    function* () {
      yield* behindOurBack(700)
      yield* look
      yield* TestClock.adjust(forgetMillis)
      yield* look
      assert.deepStrictEqual(
        (yield* report).differences.map(({ cause }) => cause),
        ["payment_not_ours", "node_balance"]
      )
    }
  )

  begun(
    "reconciliation: a discrepancy first found while the clock was ahead is reported after the grace period",
    { logsErrors: true, isPending: true },
    function* () {
      yield* behindOurBack(700)
      const atMillis = yield* Clock.currentTimeMillis
      yield* TestClock.adjust(2 * forgetMillis)
      yield* look
      yield* TestClock.setTime(atMillis)
      assert.deepStrictEqual(
        (yield* told).map(([cause]) => cause),
        ["payment_not_ours", "node_balance"]
      )
    }
  )

  it.effect("reconciliation: a report is outdated once three intervals have passed without another run", () =>
    inWorld(
      Effect.gen(function* () {
        const isOutdated = Effect.map(report, ({ isOutdated }) => isOutdated)
        yield* look
        yield* TestClock.adjust(3 * settings.reconciliation.everyMillis)
        assert.isFalse(yield* isOutdated)
        yield* TestClock.adjust(1)
        assert.isTrue(yield* isOutdated)
        yield* look
        assert.isFalse(yield* isOutdated)
      })
    )
  )

  begun(
    "reconciliation: if one run cannot read everything, the next continues where it stopped",
    {
      logsErrors: true,
      isPending: true,
      settings: { ...settings, reconciliation: { ...settings.reconciliation, lines: 3 } }
    },
    function* () {
      for (const sats of [1, 2, 3, 4, 5]) yield* behindOurBack(sats)
      assert.isTrue((yield* look).isBehind)
      assert.strictEqual((yield* look).isBehind, false)
      assert.deepStrictEqual((yield* told).map(([, , theirs]) => theirs).slice(0, 5), [1, 2, 3, 4, 5])
    }
  )

  scenario(
    "reconciliation: no equity is determined until everything has been read",
    { isPending: true, settings: { ...settings, reconciliation: { ...settings.reconciliation, lines: 3 } } },
    function* () {
      const payer = yield* companyWith(5000)
      const { destination, paymentHash = PaymentHash.make("") } = yield* outside({
        sats: 500,
        behaviour: "hold"
      })
      yield* confirm(payer, destination)
      yield* step
      yield* look
      const { createInvoice } = yield* LightningReceiver
      for (const id of ["a", "b", "c"]) {
        const description = { _tag: "Text", text: id } as const
        const { paymentRequest } = yield* createInvoice({
          id,
          amount: Msat.fromSats(9),
          description,
          expirySeconds: 60
        })
        yield* (yield* Sandbox).pay({ paymentRequest })
      }
      yield* (yield* Sandbox).release({ paymentHash, outcome: "settle" })
      yield* steps(3)
      const { isBehind, node } = yield* look
      assert.deepStrictEqual([isBehind, node.own], [true, null])
      assert.notStrictEqual((yield* look).node.own, null)
    }
  )

  begun(
    "reconciliation: a run reads no more than it can track, and no entry is missed",
    {
      isPending: true,
      logsErrors: true,
      settings: { ...settings, reconciliation: { ...settings.reconciliation, watched: 2 } }
    },
    function* () {
      for (const sats of [1, 2]) yield* behindOurBack(sats)
      yield* look
      yield* behindOurBack(3)
      const { isBehind, watched } = yield* look
      assert.deepStrictEqual([isBehind, watched.length], [true, 2])
      yield* TestClock.adjust(forgetMillis)
      yield* look
      yield* look
      assert.deepStrictEqual(
        (yield* look).watched.map((line) => line._tag === "Sent" && Number(line.amount) / 1000),
        [3]
      )
    }
  )

  begun(
    "reconciliation: while the node or the chain does not respond, a run changes nothing and reports the outage",
    { logsErrors: true, isPending: true },
    function* () {
      const before = yield* report
      yield* behindOurBack(700)
      for (const [part, outage] of [
        ["node", "NodeUnavailable"],
        ["chain", "ChainUnavailable"]
      ] as const) {
        yield* (yield* Sandbox).pause(part)
        assert.strictEqual((yield* Effect.flip(look))._tag, outage)
        yield* (yield* Sandbox).resume(part)
      }
      assert.deepStrictEqual(yield* report, before)
      assert.strictEqual((yield* told).length, 2)
    }
  )

  begun(
    "reconciliation: a lookup is repeated if the node does not report a settled payment",
    {},
    function* () {
      yield* paid(1000)
      const silent = Effect.flatMap(Effect.context<Ports | Process>(), (ports) =>
        lookOn(
          unheard(
            replace(LightningSender, () => ({ lookupPayment: () => Effect.succeed({ _tag: "unknown" }) }))(
              ports
            )
          )
        )
      )
      const { found, watched } = yield* silent
      assert.deepStrictEqual([found, watched.map(({ _tag }) => _tag)], [[], ["Withdrawal"]])
      assert.deepStrictEqual(yield* told, [])
      assert.deepStrictEqual((yield* look).watched, [])
    }
  )

  begun(
    "reconciliation: a payment is looked up even if the node received another payment with its hash",
    { logsErrors: true, isPending: true },
    function* () {
      const { row } = yield* paid(1000)
      const hash = row.paymentHash ?? PaymentHash.make("")
      const swapped = replace(LightningBooks, () => ({
        taken: () =>
          Effect.succeed({ lines: [{ paymentHash: hash, received: Msat.fromSats(1000) }], cursor: "1" })
      }))
      const unpaid = replace(LightningSender, () => ({
        lookupPayment: () => Effect.succeed({ _tag: "failed", reason: "timeout" })
      }))
      assert.deepInclude(yield* toldBy((ports) => swapped(unheard(unpaid(ports)))), [
        "withdrawal_not_paid",
        1000,
        null
      ])
    }
  )

  /** A node whose statement counts the wallet's balance, for the first time. */
  const withWallet = (sats: number) =>
    replace(LightningBooks, (books) => ({
      owned: Effect.map(books.owned, (owned) => {
        const onChain = Msat.fromSats(sats)
        return { ...owned, amount: Msat.sum(owned.amount, onChain), onChain }
      })
    }))

  begun(
    "reconciliation: the run of a process that lost the lease is discarded, with the own funds that it found",
    {},
    function* () {
      const before = [yield* report, yield* ownFunds]
      yield* TestClock.adjust(1000)
      const ports = withWallet(5000)(yield* Effect.context<Ports | Process>())
      const services = yield* Layer.build(Layer.fresh(Reconciler.layer)).pipe(Effect.provideContext(ports))
      yield* Context.get(services, Reconciler.Reconciler).run({ taskId: yield* Id.make, token: 1 })
      assert.deepStrictEqual([yield* report, yield* ownFunds], before)
    }
  )

  begun(
    "reconciliation: when a node's wallet is counted for the first time, its balance becomes operator equity, once",
    { logsErrors: true },
    function* () {
      const { own } = (yield* report).node
      assert.deepStrictEqual(yield* toldBy(withWallet(5000)), [])
      assert.strictEqual((yield* report).node.own, Msat.sum(own ?? Msat.zero, Msat.fromSats(5000)))
      // From here on, the wallet's balance counts like the node's other money.
      assert.deepStrictEqual(
        (yield* toldBy(withWallet(4000))).map(([cause, ours, theirs]) => [
          cause,
          Number(ours) - Number(theirs)
        ]),
        [["node_balance", 1000]]
      )
    }
  )

  // A run reads the ledger twice, and between these the funds, the pending withdrawals and the deposits that wait. So
  // whatever is booked during the run is in one of them.
  const moments: Record<
    string,
    (
      now: Effect.Effect<void>
    ) => (ports: Context.Context<Ports | Process>) => Context.Context<Ports | Process>
  > = {
    "before the node's funds are read": (now) =>
      replace(LightningBooks, ({ owned }) => ({ owned: Effect.andThen(now, owned) })),
    "after the node's funds were read": (now) =>
      replace(LightningBooks, ({ owned }) => ({ owned: Effect.tap(owned, () => now) })),
    "before the wallet's funds are read": (now) =>
      replace(ChainBooks, ({ holdings }) => ({ holdings: Effect.andThen(now, holdings) })),
    "after the wallet's funds were read": (now) =>
      replace(ChainBooks, ({ holdings }) => ({ holdings: Effect.tap(holdings, () => now) })),
    "before pending withdrawals are read": (now) =>
      replace(SendingReads, ({ withdrawalsUnderWay }) => ({
        withdrawalsUnderWay: (after, limit) => Effect.andThen(now, withdrawalsUnderWay(after, limit))
      })),
    "after pending withdrawals were read": (now) =>
      replace(SendingReads, ({ withdrawalsUnderWay }) => ({
        withdrawalsUnderWay: (after, limit) => Effect.tap(withdrawalsUnderWay(after, limit), () => now)
      })),
    "before waiting deposits are read": (now) =>
      replace(LedgerReads, ({ waiting }) => ({
        waiting: (sinceMillis) => Effect.andThen(now, waiting(sinceMillis))
      })),
    "after waiting deposits were read": (now) =>
      replace(LedgerReads, ({ waiting }) => ({
        waiting: (sinceMillis) => Effect.tap(waiting(sinceMillis), () => now)
      }))
  }
  const bookings: Record<
    string,
    Effect.Effect<Effect.Effect<unknown, unknown, Ports | Process>, unknown, Ports | Process>
  > = {
    "a payment is received": Effect.gen(function* () {
      const { paymentRequest } = yield* invoice(yield* company(), 3000)
      return Effect.andThen(
        Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest })),
        poll
      )
    }),
    "a withdrawal is paid": Effect.as(paying(50_000, { sats: 1000 }), step),
    "a deposit is credited": Effect.gen(function* () {
      const { address } = yield* onChainAddress(yield* company())
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(40_000) })
      yield* follow
      yield* mine(6)
      return follow
    }),
    "a payout settles": Effect.gen(function* () {
      yield* paying(50_000, { type: "chain_address" }, 20_000)
      yield* step
      yield* mine(6)
      return steps(2)
    })
  }
  for (const [what, prepared] of Object.entries(bookings)) {
    begun(`reconciliation: no discrepancy is found if ${what} at any moment of a run`, {}, function* () {
      const context = yield* Effect.context<Ports | Process>()
      for (const [moment, hooked] of Object.entries(moments)) {
        const event = yield* prepared
        let isOver = false
        const now = Effect.suspend(() => {
          if (isOver) return Effect.void
          isOver = true
          return Effect.orDie(Effect.asVoid(Effect.provideContext(event, context)))
        })
        const { node, chain, found } = yield* lookOn(hooked(now)(context))
        assert.isTrue(isOver, moment)
        assert.deepStrictEqual([node.unexplained, chain.unexplained, found.map(brief)], [0n, 0n, []], moment)
      }
    })
  }

  scenario(
    "reconciliation: equity that the operator declares during the first run is kept",
    {},
    function* () {
      const declared = { node: Msat.fromSats(1), chain: Msat.fromSats(2) }
      const { stateOwnFunds } = yield* Reconciliation
      const meanwhile = replace(ChainBooks, ({ holdings }) => ({
        holdings: Effect.tap(holdings, () => Effect.orDie(stateOwnFunds(declared)))
      }))
      yield* lookOn(meanwhile(yield* Effect.context<Ports | Process>()))
      const { node, chain } = yield* look
      assert.deepStrictEqual({ node: node.own, chain: chain.own }, declared)
    }
  )

  begun(
    "reconciliation: the equity that the operator declares is counted",
    { logsErrors: true, isPending: true },
    function* () {
      yield* behindOurBack(700)
      const { unexplained, own } = yield* Effect.map(Effect.andThen(told, report), ({ node }) => node)
      const { stateOwnFunds } = yield* Reconciliation
      const stated = yield* stateOwnFunds({ node: Msat.make((own ?? 0n) + unexplained), chain: null })
      assert.strictEqual(stated.chain, (yield* report).chain.own)
      assert.deepStrictEqual(
        (yield* told).map(([cause]) => cause),
        ["payment_not_ours"]
      )
      yield* TestClock.adjust(forgetMillis)
      assert.deepStrictEqual(yield* told, [])
    }
  )
})

describe("A difference", () => {
  begun(
    "payment_not_ours: the node made a payment without a withdrawal, and its balance is short by that amount",
    { logsErrors: true, isPending: true },
    function* () {
      const before = (yield* report).node.owned
      yield* behindOurBack(700)
      const after = (yield* (yield* LightningBooks).owned).amount
      assert.deepStrictEqual(yield* told, [
        ["payment_not_ours", null, 700],
        ["node_balance", Number(before) / 1000, Number(after) / 1000]
      ])
      assert.strictEqual((yield* report).node.unexplained, Msat.make(after - before))
    }
  )

  begun(
    "payment_not_ours: the discrepancy is also reported while the payee holds the payment, until the payment is returned",
    { logsErrors: true },
    function* () {
      const { paymentHash } = yield* behindOurBack(700, "hold")
      assert.deepStrictEqual(yield* told, [["payment_not_ours", null, 700]])
      yield* (yield* Sandbox).release({ paymentHash, outcome: "fail" })
      assert.deepStrictEqual(yield* told, [])
    }
  )

  begun(
    "payment_not_ours: the discrepancy is reported once, even if the node attempted the payment twice",
    { logsErrors: true, isPending: true },
    function* () {
      const invoice = yield* behindOurBack(700, "hold")
      yield* look
      yield* (yield* Sandbox).release({ paymentHash: invoice.paymentHash, outcome: "fail" })
      yield* (yield* LightningSender).pay({
        invoice,
        amount: Msat.fromSats(700),
        feeLimit: Msat.fromSats(1000)
      })
      assert.deepStrictEqual(yield* told, [["payment_not_ours", null, 700]])
      assert.strictEqual((yield* look).watched.length, 1)
    }
  )

  begun(
    "payment_of_failed: the node is paying, or has paid, a withdrawal whose funds were released",
    {
      logsErrors: true,
      isPending: true, // The sender reports a pending payment as failed, which is the worst error a backend can make.
      change: replace(LightningSender, ({ pay }) => ({
        pay: (ask) =>
          Effect.map(pay(ask), (payment) =>
            payment._tag === "pending" ? { _tag: "failed", reason: "timeout" } : payment
          )
      }))
    },
    function* () {
      const { row } = yield* paid(500, "hold")
      assert.strictEqual(row.status, "failed")
      assert.deepStrictEqual(yield* told, [["payment_of_failed", null, 500]])
      yield* (yield* Sandbox).release({
        paymentHash: row.paymentHash ?? PaymentHash.make(""),
        outcome: "settle"
      })
      assert.deepStrictEqual(
        (yield* told).map(([cause]) => cause),
        ["payment_of_failed", "node_balance"]
      )
    }
  )

  begun(
    "payment_not_booked: the node has made a payment that no worker records",
    { logsErrors: true },
    function* () {
      const { row } = yield* paid(500, "hold")
      assert.deepStrictEqual(yield* told, [])
      yield* (yield* Sandbox).release({
        paymentHash: row.paymentHash ?? PaymentHash.make(""),
        outcome: "settle"
      })
      assert.deepStrictEqual(yield* told, [["payment_not_booked", null, 500]])
      yield* step
      assert.strictEqual((yield* now(row)).status, "settled")
      assert.deepStrictEqual(yield* told, [])
    }
  )

  begun(
    "payment_not_booked: nothing is reported while a worker has claimed the withdrawal",
    { logsErrors: true },
    function* () {
      const { row } = yield* paid(500, "hold")
      yield* (yield* Sandbox).release({
        paymentHash: row.paymentHash ?? PaymentHash.make(""),
        outcome: "settle"
      })
      yield* TestClock.adjust("10 seconds")
      const nowMillis = yield* Clock.currentTimeMillis
      const claimed = yield* (yield* Tasks).claim({
        kind: Withdrawal.paymentKind,
        nowMillis,
        leaseMillis: 120_000,
        limit: 1
      })
      assert.strictEqual(claimed.length, 1)
      assert.deepStrictEqual(yield* told, [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* told, [["payment_not_booked", null, 500]])
      yield* step
      assert.deepStrictEqual(yield* told, [])
    }
  )

  begun(
    "payment_not_booked: a job that only tracks the payment, and is due soon, does not hide it",
    { logsErrors: true },
    function* () {
      const { row } = yield* paid(500, "hold")
      yield* (yield* Sandbox).release({
        paymentHash: row.paymentHash ?? PaymentHash.make(""),
        outcome: "settle"
      })
      yield* TestClock.adjust("10 seconds")
      const tasks = yield* Tasks
      const [task = assert.fail()] = yield* tasks.claim({
        kind: Withdrawal.paymentKind,
        nowMillis: yield* Clock.currentTimeMillis,
        leaseMillis: 120_000,
        limit: 1
      })
      const tracked = Effect.gen(function* () {
        yield* tasks.postpone(task, (yield* Clock.currentTimeMillis) + settings.trackMillis.maximum)
        yield* look
      })
      yield* tracked
      yield* TestClock.adjust(graceMillis)
      yield* tracked
      assert.deepStrictEqual((yield* report).differences.map(brief), [["payment_not_booked", null, 500]])
      yield* TestClock.adjust(settings.trackMillis.maximum)
      yield* step
    }
  )

  begun(
    "payment_amount: the node paid an amount different from the withdrawal's",
    { logsErrors: true },
    function* () {
      yield* paid(500)
      assert.deepStrictEqual(yield* toldBy(booked((line) => ({ ...line, amount: Msat.fromSats(501) }))), [
        ["payment_amount", 500, 501]
      ])
    }
  )

  begun(
    "payment_fee: the routing fee differs from the fee that was posted",
    {
      logsErrors: true,
      isPending: true, // The fee reported by the sender differs from the one in its records.
      change: replace(LightningSender, ({ pay }) => ({
        pay: (ask) =>
          Effect.map(pay(ask), (payment) =>
            payment._tag === "settled" ? { ...payment, fee: Msat.fromSats(7) } : payment
          )
      }))
    },
    function* () {
      yield* paid(500)
      assert.deepStrictEqual((yield* told)[0], ["payment_fee", 7, 0.25])
      assert.strictEqual((yield* report).node.unexplained, Msat.make(6750n))
    }
  )

  for (const [what, payment] of Object.entries({
    "has no record of": { _tag: "notFound" },
    "calls failed": { _tag: "failed", reason: "no_route" }
  } as const)) {
    begun(`withdrawal_not_paid: the node ${what} a settled withdrawal`, { logsErrors: true }, function* () {
      yield* paid(500)
      const forgetful = replace(LightningSender, () => ({ lookupPayment: () => Effect.succeed(payment) }))
      assert.deepStrictEqual(yield* toldBy((ports) => unheard(forgetful(ports))), [
        ["withdrawal_not_paid", 500, null]
      ])
    })
  }

  begun(
    "withdrawal_not_proven: a withdrawal was settled with an invalid preimage",
    { logsErrors: true },
    function* () {
      yield* paid(500)
      const wrong = replace(SendingReads, ({ withdrawal }) => ({
        withdrawal: (...ask) =>
          Effect.map(
            withdrawal(...ask),
            Option.map((row) => ({ ...row, preimage: Preimage.make("00".repeat(32)) }))
          )
      }))
      assert.deepStrictEqual(yield* toldBy(wrong), [["withdrawal_not_proven", 500, null]])
    }
  )

  begun(
    "receipt_not_ours: the node was paid for an invoice that this service did not issue",
    { logsErrors: true, isPending: true },
    function* () {
      const { createInvoice } = yield* LightningReceiver
      const description = { _tag: "Text", text: "the operator's own" } as const
      const ask = { id: "own", amount: Msat.fromSats(900), description, expirySeconds: 60 }
      yield* (yield* Sandbox).pay({ paymentRequest: (yield* createInvoice(ask)).paymentRequest })
      assert.deepStrictEqual(
        (yield* told).map(([cause, ours, theirs]) =>
          cause === "node_balance" ? [cause] : [cause, ours, theirs]
        ),
        [["receipt_not_ours", null, 900], ["node_balance"]]
      )
      assert.strictEqual((yield* report).node.unexplained, Msat.fromSats(900))
    }
  )

  begun(
    "receipt_not_credited: the node received a payment that no worker records",
    { logsErrors: true },
    function* () {
      const { paymentRequest } = yield* invoice(yield* company(), 900)
      yield* (yield* Sandbox).loseNextNotice
      yield* (yield* Sandbox).pay({ paymentRequest })
      assert.deepStrictEqual(yield* told, [["receipt_not_credited", null, 900]])
      yield* poll
      assert.deepStrictEqual(yield* told, [])
    }
  )

  begun(
    "receipt_not_credited: the deposit of a settled invoice is missing",
    { logsErrors: true },
    function* () {
      yield* companyWith(900)
      const missing = replace(ReceivingReads, () => ({ depositOfInvoice: () => Effect.succeedNone }))
      assert.deepStrictEqual(yield* toldBy(missing), [["receipt_not_credited", null, 900]])
    }
  )

  begun(
    "receipt_amount: the credited amount differs from the amount that the node received",
    { logsErrors: true },
    function* () {
      yield* companyWith(900)
      const other = replace(ReceivingReads, ({ depositOfInvoice }) => ({
        depositOfInvoice: (...ask) =>
          Effect.map(
            depositOfInvoice(...ask),
            Option.map((row) => ({ ...row, amount: Msat.fromSats(899) }))
          )
      }))
      assert.deepStrictEqual(yield* toldBy(other), [["receipt_amount", 899, 900]])
    }
  )

  begun(
    "deposit_not_received, deposit_amount: the node did not receive a credited deposit, or received less",
    { logsErrors: true },
    function* () {
      yield* companyWith(900)
      const saying = (state: InvoiceState) =>
        replace(LightningReceiver, () => ({ lookupInvoice: () => Effect.succeed(state) }))
      const open = saying({ _tag: "open" })
      assert.deepStrictEqual(yield* toldBy((ports) => unheard(open(ports))), [
        ["deposit_not_received", 900, null]
      ])
      const less = saying({ _tag: "settled", received: Msat.fromSats(800), preimage: Preimage.make("") })
      assert.deepStrictEqual(yield* toldBy((ports) => unheard(less(ports))), [["deposit_amount", 900, 800]])
    }
  )

  begun(
    "coin_gone: a coin of the wallet is no longer in the chain, and no payout spent it",
    { logsErrors: true, isPending: true },
    function* () {
      const { payer, row: payout } = yield* paying(50_000, { type: "chain_address" }, 5000)
      yield* step
      const [candidate] = yield* (yield* Records).candidates(payer.id, payout.id)
      const spent = Payout.fromPsbt(candidate?.psbt ?? "").getInput(0)
      const ours = `${hex.encode(spent.txid ?? new Uint8Array())}:${spent.index}`
      const gone = [ours, `${"ab".repeat(32)}:1`].map((outpoint) => ({
        outpoint,
        amount: Msat.fromSats(300)
      }))
      const thief = replace(ChainBooks, ({ holdings }) => ({
        holdings: Effect.map(holdings, ({ owned }) => ({ owned, gone }))
      }))
      assert.deepStrictEqual(yield* toldBy(thief), [["coin_gone", 300, null]])
    }
  )

  begun(
    "deposit_not_credited: an evicted deposit is in a block; the discrepancy is resolved when the deposit is pending again",
    { logsErrors: true },
    function* () {
      const records = yield* Records
      const { address } = yield* onChainAddress(yield* company())
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(7000) })
      yield* mine(1)
      yield* follow
      const [deposit] = yield* records.depositsInBlocks(null, 100)
      if (deposit === undefined) return assert.fail()
      yield* (yield* Journal).commit(Deposit.dropped(deposit, 0))
      const found = (yield* told).filter(([cause]) => cause === "deposit_not_credited")
      assert.deepStrictEqual(found, [["deposit_not_credited", null, 7000]])
      const [difference] = (yield* report).differences.filter(({ cause }) => cause === "deposit_not_credited")
      assert.deepStrictEqual(
        [difference?.about, difference?.companyId, difference?.recordId],
        [`${deposit.chainTxId}:${deposit.vout}`, deposit.companyId, deposit.id]
      )
      yield* mine(1)
      yield* follow
      assert.deepStrictEqual(yield* told, [])
    }
  )

  begun(
    "deposit_not_credited: each run looks up the next page of evicted deposits, and after the last starts over",
    { isPending: true },
    function* () {
      const { address } = yield* onChainAddress(yield* company())
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(7000) })
      yield* mine(1)
      yield* follow
      const [deposit = assert.fail()] = yield* (yield* Records).depositsInBlocks(null, 100)
      const asked = new Array<string | null>()
      const ids = Array.from({ length: 70 }, (_, n) => `deposit ${n}`)
      const evicted = replace(ReceivingReads, () => ({
        depositsGivenUp: (before, limit) => {
          asked.push(before)
          const from = before === null ? 0 : ids.indexOf(before) + 1
          return Effect.succeed(ids.slice(from, from + limit).map((id) => ({ ...deposit, id })))
        }
      }))
      const ports = evicted(yield* Effect.context<Ports | Process>())
      for (let runs = 0; runs < 3; runs++) yield* lookOn(ports)
      assert.deepStrictEqual(asked, [null, "deposit 49", null])
    }
  )

  scenario(
    "node_balance: coins that a new node receives before its first channel and payment are the operator's; what leaves it, or comes later, is a discrepancy",
    { logsErrors: true, isPending: true },
    function* () {
      const differing = Effect.fnUntraced(function* (sats: number, inChannels = 0) {
        const owned = Effect.succeed({
          amount: Msat.fromSats(sats),
          onChain: Msat.fromSats(sats - inChannels),
          within: Msat.zero
        })
        const told = yield* toldBy(replace(LightningBooks, () => ({ owned })))
        return told.map(([cause, ours, theirs]) => [cause, Number(theirs) - Number(ours)])
      })
      assert.deepStrictEqual([yield* differing(0), yield* differing(50_000)], [[], []])
      assert.strictEqual((yield* report).node.own, Msat.fromSats(50_000))
      assert.deepStrictEqual(yield* differing(49_000), [["node_balance", -1000]])
      assert.deepStrictEqual(yield* differing(51_000, 40_000), [["node_balance", 1000]])
      yield* companyWith(5000)
      assert.deepStrictEqual(yield* differing(56_000), [["node_balance", 1000]])
    }
  )

  scenario(
    "node_balance: coins above the equity that the operator has declared are a discrepancy",
    { logsErrors: true, isPending: true },
    function* () {
      yield* (yield* Reconciliation).stateOwnFunds({ node: Msat.fromSats(50_000), chain: null })
      const owned = { amount: Msat.fromSats(51_000), onChain: Msat.fromSats(51_000), within: Msat.zero }
      const told = yield* toldBy(replace(LightningBooks, () => ({ owned: Effect.succeed(owned) })))
      assert.deepStrictEqual(told, [["node_balance", 50_000, 51_000]])
    }
  )

  scenario(
    "on_chain_balance: the wallet's opening funds are determined even if the operator declared the node's before",
    { logsErrors: true, isPending: true },
    function* () {
      const { amount } = yield* (yield* LightningBooks).owned
      yield* (yield* Reconciliation).stateOwnFunds({ node: amount, chain: null })
      yield* look
      const before = Number((yield* report).chain.owned) / 1000
      const cost = yield* stolen(40_000)
      assert.deepStrictEqual(yield* told, [["on_chain_balance", before, before - cost]])
    }
  )

  begun(
    "on_chain_balance: someone with our keys spent from our wallet",
    { logsErrors: true, isPending: true },
    function* () {
      const before = Number((yield* report).chain.owned) / 1000
      const cost = yield* stolen(40_000)
      assert.deepStrictEqual(yield* told, [["on_chain_balance", before, before - cost]])
      assert.strictEqual((yield* report).chain.unexplained, Msat.make(BigInt(-cost * 1000)))
    }
  )
})
