import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { applied, Conflict, Journal, StaleFence } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import type { FailureReason, NotSent } from "../src/nodes/LightningSender.ts"
import type { Claim } from "../src/sending/Claim.ts"
import * as LightningPayments from "../src/sending/LightningPayments.ts"
import * as LostWithdrawal from "../src/sending/LostWithdrawal.ts"
import * as NodePayments from "../src/sending/NodePayments.ts"
import type { LookupResult, NewPayment, PaymentState } from "../src/sending/NodePayments.ts"
import * as Recipient from "../src/sending/Recipient.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import * as WithdrawalHooks from "../src/sending/WithdrawalHooks.ts"
import * as WithdrawalOutcomes from "../src/sending/WithdrawalOutcomes.ts"
import {
  company,
  companyWith,
  confirm,
  invoice,
  now,
  outside,
  paying,
  replace,
  run,
  step,
  type World
} from "./World.ts"
import { sending } from "./Payments.ts"

// Every decision of the payment worker on what the node reports. Only a settlement with its preimage settles a
// withdrawal. Only the node's final failure, or the certainty that nobody can send the payment any longer, fails it.

const graceMillis = 60_000
const leaseMillis = 120_000
const preimage = Preimage.make("11".repeat(32))
const paymentHash = Preimage.hashOf(preimage)
const otherPreimage = Preimage.make("22".repeat(32))

const settled = (proof: Preimage.Preimage): PaymentState => ({
  _tag: "settled",
  preimage: proof,
  fee: Msat.make(7n),
  index: "3"
})

/** What the node, the operator and the store do, and what the worker did about it. */
const state = () => ({
  did: new Array<string>(),
  pay: { _tag: "pending" } as PaymentState | NotSent | "crash",
  lookup: { _tag: "pending" } as LookupResult,
  maySend: "now" as "now" | "later" | "never",
  isRefused: false,
  check: undefined as Recipient.DestinationRefused["code"] | undefined,
  hash: paymentHash as PaymentHash.PaymentHash | null,
  /** What the node reports of the earlier payment; undefined without an earlier payment. */
  earlier: undefined as LookupResult | undefined,
  /** What the worker had done when it began to watch a payment: the number of steps. */
  heldAt: new Array<number>(),
  /** The error of the commit that dispatches a withdrawal. */
  commit: undefined as
    | Conflict
    | Withdrawal.PaymentHashTaken
    | StaleFence
    | Withdrawal.AlreadyTerminal
    | undefined
})
type State = ReturnType<typeof state>

const world = (at: State): World => ({
  isPending: true,
  change: (ports) =>
    ports.pipe(
      sending((sender) => ({
        lookupPayment: (hash) =>
          Effect.suspend(() =>
            at.earlier === undefined ? sender.lookupPayment(hash) : Effect.succeed(at.earlier)
          )
      })),
      replace(SendingReads, (reads) => ({
        settledOverLightning: (since, before) =>
          at.earlier === undefined ? Effect.succeedNone : reads.settledOverLightning(since, before)
      })),
      replace(Journal, (journal) => ({
        commit: (change) => {
          if (change._tag !== "WithdrawalDispatched") return journal.commit(change)
          at.did.push("commit")
          return at.commit === undefined ? journal.commit(change) : Effect.fail(at.commit as never)
        }
      }))
    )
})

/** Builds the worker's part for Lightning. It records its decisions instead of applying them. */
const deciding = (at: State) =>
  LightningPayments.make(
    {
      fail: (_withdrawal, failure) =>
        Effect.sync(() => {
          at.did.push(`fail: ${failure}`)
          return "done" as const
        }),
      settle: (_withdrawal, { preimage, networkFee, paymentIndex, reportedHash }) =>
        Effect.sync(() => {
          at.did.push(
            [
              "settle",
              preimage,
              networkFee,
              paymentIndex,
              ...(reportedHash === undefined ? [] : [reportedHash])
            ].join(" ")
          )
          return "done" as const
        })
    },
    {
      listens: [],
      hold: () => Effect.sync(() => void at.heldAt.push(at.did.length)),
      giveBack: () => Effect.void,
      release: () => Effect.succeed(true)
    }
  ).pipe(
    Effect.provideService(WithdrawalHooks.Hooks, [
      { mayBegin: () => Effect.undefined, maySend: () => Effect.sync(() => at.maySend) }
    ])
  )

let payments = 0
/** A hash of its own for each payment, because no hash is dispatched twice. */
const nextHash = () => PaymentHash.make(String(++payments).padStart(64, "0"))

const payment = (at: State): NewPayment => ({
  key: "key",
  paymentHash: at.hash,
  graceMillis,
  isRefused: () => at.isRefused,
  pay: Effect.suspend(() => {
    at.did.push("pay")
    return at.pay === "crash" ? Effect.die("crashed") : Effect.succeed(at.pay)
  }),
  lookup: Effect.suspend(() => {
    at.did.push("lookup")
    return Effect.succeed(at.lookup)
  }),
  attempt: { _tag: "Lightning", paymentHash: nextHash(), paymentRequest: "lnbcrt1", successAction: null },
  check: () =>
    at.check === undefined
      ? Result.succeed(undefined)
      : Result.fail(new Recipient.DestinationRefused({ code: at.check, message: "words" }))
})

/** A confirmed withdrawal, claimed by this worker. */
const claimed = Effect.gen(function* () {
  const row = yield* confirm(yield* companyWith(50_000), (yield* outside({ sats: 1000 })).destination)
  const atMillis = yield* Clock.currentTimeMillis
  const tasks = yield* (yield* Tasks).claim({
    kind: Withdrawal.taskKind,
    nowMillis: atMillis,
    leaseMillis,
    limit: 100
  })
  const task = tasks.find(({ id }) => id === row.id) ?? assert.fail("not claimed")
  return { row, claim: { ...task, atMillis, leaseMillis } satisfies Claim }
})

/** Looks up a payment that was dispatched `agoMillis` ago, and returns what the worker did, and its next step. */
const tracked = Effect.fnUntraced(function* (at: State, agoMillis: number, change: Partial<Claim> = {}) {
  const { row, claim } = yield* claimed
  const { track } = yield* deciding(at)
  const next = yield* track(row, payment(at), claim.atMillis - agoMillis, { ...claim, ...change })
  return { did: at.did, next }
})

const sent = Effect.fnUntraced(function* (at: State, change: Partial<Claim> = {}) {
  const { row, claim } = yield* claimed
  const { send } = yield* deciding(at)
  const next = yield* send(row, payment(at), { ...claim, ...change })
  return { did: at.did, next }
})

const failures: Record<FailureReason, Withdrawal.Failure> = {
  timeout: "timeout",
  no_route: "no_route",
  error: "node_error",
  incorrect_payment_details: "incorrect_payment_details",
  insufficient_balance: "insufficient_liquidity",
  canceled: "canceled",
  channel_closed: "channel_closed"
}

/** The node's reports, and what the worker does about each, whether `pay` or a lookup returns it. */
const reports: Record<string, readonly [report: PaymentState, did: ReadonlyArray<string>]> = {
  "a settlement with its preimage: settled": [settled(preimage), [`settle ${preimage} 7 3`]],
  "a settlement with another preimage: stays pending": [settled(otherPreimage), []],
  "a pending payment: stays pending": [{ _tag: "pending" }, []],
  "an unknown outcome: stays pending": [{ _tag: "unknown" }, []],
  ...Object.fromEntries(
    Object.entries(failures).map(([reason, failure]) => [
      `a failure (${reason}): failed (${failure})`,
      [{ _tag: "failed", reason: reason as FailureReason }, [`fail: ${failure}`]]
    ])
  )
}

const logsErrors = (what: string) => what.includes("another preimage")

describe("Decisions of the payment worker", () => {
  for (const [what, [report, did]] of Object.entries(reports)) {
    const isFinal = did.length > 0
    it.effect(`C1 C2 C3: payment worker: the node reports ${what}`, () => {
      const at = state()
      return run({ ...world(at), ...(logsErrors(what) && { logsErrors: true as const }) }, function* () {
        at.lookup =
          report._tag === "failed" || report._tag === "settled" || report._tag === "pending"
            ? report
            : { _tag: "unknown" }
        const looked = yield* tracked(at, 3_600_000)
        assert.deepStrictEqual(looked.did, ["lookup", ...did])
        assert.strictEqual(looked.next, isFinal ? "done" : "later")
        at.did.length = 0
        at.pay = report
        const paid = yield* sent(at)
        assert.deepStrictEqual(paid.did, ["commit", "pay", ...did])
        assert.strictEqual(paid.next === "done", isFinal)
      })
    })
  }

  it.effect(
    "payment worker: a payment of an offer settles only with a preimage of the hash that the node reports",
    () => {
      const at = state()
      at.hash = null
      return run({ ...world(at), logsErrors: true }, function* () {
        for (const [proof, hash, did] of [
          [preimage, paymentHash, [`settle ${preimage} 7 3 ${paymentHash}`]],
          [otherPreimage, paymentHash, []],
          [preimage, undefined, []]
        ] as const) {
          at.did.length = 0
          at.lookup = { ...settled(proof), ...(hash !== undefined && { paymentHash: hash }) } as LookupResult
          assert.deepStrictEqual((yield* tracked(at, 3_600_000)).did, ["lookup", ...did])
        }
      })
    }
  )

  it.effect(
    "C1: payment worker: a hash that the node reports with the payment of an invoice does not replace the invoice's",
    () => {
      const at = state()
      return run({ ...world(at), logsErrors: true }, function* () {
        at.lookup = { ...settled(otherPreimage), paymentHash: Preimage.hashOf(otherPreimage) } as LookupResult
        assert.deepStrictEqual((yield* tracked(at, 3_600_000)).did, ["lookup"])
        at.did.length = 0
        at.lookup = { ...settled(preimage), paymentHash } as LookupResult
        assert.deepStrictEqual((yield* tracked(at, 3_600_000)).did, ["lookup", `settle ${preimage} 7 3`])
      })
    }
  )

  it.effect(
    "payment worker: a payment is watched before it is looked up or dispatched, so that no notification is missed",
    () => {
      const at = state()
      return run(world(at), function* () {
        yield* tracked(at, 3_600_000)
        at.did.length = 0
        yield* sent(at)
        assert.deepStrictEqual(at.heldAt, [0, 0])
      })
    }
  )

  it.effect(
    "C1 C10: payment worker: a failure is not final while the process that held the claim before may still send the payment",
    () => {
      const at = state()
      return run(world(at), function* () {
        const heldUntilMillis = (yield* Clock.currentTimeMillis) + 30_000
        at.lookup = { _tag: "failed", reason: "no_route" }
        const held = yield* tracked(at, 3_600_000, { heldUntilMillis })
        assert.deepStrictEqual([held.did, held.next === "done"], [["lookup"], false])
        at.did.length = 0
        at.lookup = settled(preimage)
        assert.deepStrictEqual((yield* tracked(at, 3_600_000, { heldUntilMillis })).did, [
          "lookup",
          `settle ${preimage} 7 3`
        ])
        at.lookup = { _tag: "failed", reason: "no_route" }
        at.did.length = 0
        const free = yield* tracked(at, 3_600_000, { heldUntilMillis: yield* Clock.currentTimeMillis })
        assert.deepStrictEqual(free.did, ["lookup", "fail: no_route"])
      })
    }
  )

  it.effect(
    "C8: payment worker: a payment without a record is neither sent nor failed before a call can no longer reach the node",
    () => {
      const at = state()
      at.lookup = { _tag: "notFound" }
      return run(world(at), function* () {
        const early = yield* tracked(at, graceMillis - 1)
        assert.deepStrictEqual([early.did, early.next], [["lookup"], { millis: 1 }])
        at.did.length = 0
        assert.deepStrictEqual((yield* tracked(at, graceMillis)).did, ["lookup", "pay"])
      })
    }
  )

  it.effect(
    "C4 C8: payment worker: a payment without a record is sent again only if the node has kept its records",
    () => {
      const at = state()
      at.lookup = { _tag: "notFound" }
      return run({ ...world(at), logsErrors: true }, function* () {
        yield* paying(50_000, { sats: 1000 })
        yield* step
        yield* TestClock.adjust("1 hour")
        for (const [earlier, next, did] of [
          [settled(preimage), undefined, ["lookup", "pay"]],
          [{ _tag: "notFound" }, "lost", ["lookup"]],
          [{ _tag: "unknown" }, "later", ["lookup"]],
          [{ _tag: "pending" }, "later", ["lookup"]],
          [{ _tag: "failed", reason: "error" }, "later", ["lookup"]]
        ] as const) {
          at.earlier = earlier
          at.did.length = 0
          const tracking = yield* tracked(at, graceMillis)
          assert.deepStrictEqual<unknown>(tracking.did, did, earlier._tag)
          if (next !== undefined) assert.strictEqual(tracking.next, next)
          // A withdrawal that counts as lost stays lost until the node reports something else.
          const isLost = { kind: Withdrawal.paymentKind, lane: LostWithdrawal.lane }
          if (next === "later") assert.strictEqual((yield* tracked(at, graceMillis, isLost)).next, "lost")
        }
      })
    }
  )

  it.effect(
    "C4 C8: payment worker: a payment that the node lost is neither sent nor failed; one dispatched after the loss is sent",
    () => {
      const at = state()
      return run(world(at), function* () {
        const dispatched = (yield* Clock.currentTimeMillis) - 3_600_000
        at.lookup = { _tag: "notFound", lostBeforeMillis: dispatched + 1 }
        const lost = yield* tracked(at, 3_600_000)
        assert.deepStrictEqual([lost.did, lost.next], [["lookup"], "lost"])
        at.did.length = 0
        at.lookup = { _tag: "notFound", lostBeforeMillis: dispatched }
        assert.deepStrictEqual((yield* tracked(at, 3_600_000)).did, ["lookup", "pay"])
      })
    }
  )

  it.effect(
    "payment worker: a withdrawal that may never be sent fails once the node has no record of it and refuses it, not before",
    () => {
      const at = state()
      at.maySend = "never"
      return run(world(at), function* () {
        const nowMillis = yield* Clock.currentTimeMillis
        for (const [lookup, isRefused, claim, did] of [
          [{ _tag: "notFound" }, true, {}, ["lookup", "fail: canceled"]],
          [{ _tag: "notFound" }, false, {}, ["lookup"]],
          [{ _tag: "notFound" }, true, { heldUntilMillis: nowMillis + 1000 }, ["lookup"]],
          [{ _tag: "unknown" }, true, {}, ["lookup"]],
          [{ _tag: "pending" }, true, {}, ["lookup"]]
        ] as const) {
          at.lookup = lookup
          at.isRefused = isRefused
          at.did.length = 0
          assert.deepStrictEqual<unknown>((yield* tracked(at, 3_600_000, claim)).did, did, lookup._tag)
        }
        // A withdrawal that only waits does not fail, even if the node would refuse it.
        at.maySend = "later"
        at.lookup = { _tag: "notFound" }
        at.isRefused = true
        at.did.length = 0
        assert.deepStrictEqual((yield* tracked(at, 3_600_000)).did, ["lookup"])
      })
    }
  )

  it.effect("C3: payment worker: a call that crashed or was not sent fails no withdrawal", () => {
    const at = state()
    return run({ ...world(at), logsErrors: true }, function* () {
      for (const pay of ["crash", { _tag: "notSent" }, { _tag: "unknown" }] as const) {
        at.pay = pay
        at.did.length = 0
        const { did, next } = yield* sent(at)
        assert.deepStrictEqual([did, next === "done"], [["commit", "pay"], false])
      }
    })
  })

  it.effect(
    "C8: payment worker: after a call that was not sent, the next claim does not wait for the grace period; after another call, it does",
    () => {
      const at = state()
      at.lookup = { _tag: "notFound" }
      return run(world(at), function* () {
        for (const [pay, did] of [
          [{ _tag: "notSent" }, ["lookup", "pay"]],
          [{ _tag: "pending" }, ["lookup"]]
        ] as const) {
          const { row, claim } = yield* claimed
          const { send, track } = yield* deciding(at)
          at.pay = pay
          yield* send(row, payment(at), claim)
          at.did.length = 0
          yield* track(row, payment(at), claim.atMillis, { ...claim, token: claim.token + 1 })
          assert.deepStrictEqual<unknown>(at.did, did)
          // A claim in between may belong to another process, which may have called the node.
          at.did.length = 0
          yield* track(row, payment(at), claim.atMillis, { ...claim, token: claim.token + 3 })
          assert.deepStrictEqual(at.did, ["lookup"])
        }
      })
    }
  )

  it.effect("C1: payment worker: no call is made in the second half of a claim", () => {
    const at = state()
    return run(world(at), function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      assert.deepStrictEqual((yield* sent(at, { atMillis: nowMillis - leaseMillis / 2 })).did, [
        "commit",
        "pay"
      ])
      at.did.length = 0
      const late = yield* sent(at, { atMillis: nowMillis - leaseMillis / 2 - 1 })
      assert.deepStrictEqual([late.did, late.next], [["commit"], "later"])
    })
  })

  it.effect("payment worker: a payment that can no longer be made fails without a call", () => {
    const at = state()
    return run(world(at), function* () {
      for (const [check, failure] of [
        ["invoice_expired", "invoice_expired"],
        ["invoice_not_payable", "invoice_not_payable"]
      ] as const) {
        at.check = check
        at.did.length = 0
        assert.deepStrictEqual(yield* sent(at), { did: [`fail: ${failure}`], next: "done" })
      }
    })
  })

  it.effect(
    "C3: payment worker: a call without a response does not shorten the time in which an earlier call may arrive",
    () => {
      const at = { ...state(), pay: { _tag: "unknown" } as PaymentState }
      return run(world(at), function* () {
        const heldUntilMillis = (yield* Clock.currentTimeMillis) + leaseMillis
        const { next } = yield* sent(at, { heldUntilMillis })
        assert.strictEqual(
          typeof next === "object" && "claim" in next ? next.claim.heldUntilMillis : next,
          heldUntilMillis
        )
      })
    }
  )

  it.effect(
    "payment worker: a claim that knows until when an earlier call may arrive sends a missing payment at once",
    () => {
      const at = { ...state(), lookup: { _tag: "notFound" } as LookupResult }
      return run(world(at), function* () {
        assert.deepStrictEqual((yield* tracked(at, 0, { heldUntilMillis: 1 })).did, ["lookup", "pay"])
      })
    }
  )

  it.effect("freeze: a withdrawal that may not be sent now is neither dispatched nor sent", () => {
    const at = state()
    return run(world(at), function* () {
      for (const maySend of ["later", "never"] as const) {
        at.maySend = maySend
        assert.deepStrictEqual((yield* sent(at)).did, [])
      }
    })
  })

  it.effect(
    "C10 C11: payment worker: the node is not called unless the withdrawal was dispatched under this claim",
    () => {
      const at = state()
      return run(world(at), function* () {
        const overtaken = [
          new StaleFence({ taskId: "task" }),
          new Withdrawal.AlreadyTerminal({ id: "id", status: "settled" }),
          new Conflict({ change: "test", id: "id" })
        ]
        for (const error of overtaken) {
          at.commit = error
          at.did.length = 0
          assert.deepStrictEqual(yield* sent(at), { did: ["commit"], next: "done" })
        }
      })
    }
  )

  it.effect(
    "C11: payment worker: a second withdrawal to a payment hash fails, and only the same company learns that the hash was used",
    () => {
      const at = state()
      return run(world(at), function* () {
        const { row } = yield* paying(50_000, { sats: 1000 })
        yield* step
        at.commit = new Withdrawal.PaymentHashTaken({
          paymentHash: (yield* now(row)).paymentHash ?? assert.fail("not sent")
        })
        at.did.length = 0
        assert.deepStrictEqual((yield* sent(at)).did, ["commit", "fail: invoice_not_payable"])
        const own = yield* claimed
        at.did.length = 0
        yield* (yield* deciding(at)).send({ ...own.row, companyId: row.companyId }, payment(at), own.claim)
        assert.deepStrictEqual(at.did, ["commit", "fail: payment_hash_used"])
      })
    }
  )

  it.effect(
    "payment worker: a withdrawal that fails releases the invoice that it claimed, and none once it was sent",
    () =>
      run({ isPending: true }, function* () {
        const { row, claim } = yield* claimed
        const issued = yield* invoice(yield* company(), 1000)
        const committed = new Array<string>()
        const { fail } = yield* WithdrawalOutcomes.make.pipe(
          Effect.provideService(ReceivingReads, {
            ...(yield* ReceivingReads),
            invoiceByHash: () => Effect.succeedSome({ ...issued, status: "claimed", claimedBy: row.id })
          }),
          Effect.provideService(Journal, {
            commit: ({ _tag }) => {
              committed.push(_tag)
              return Effect.succeed(applied)
            }
          })
        )
        yield* fail(row, "invoice_not_payable", claim)
        assert.deepStrictEqual(committed, ["InvoiceReleased", "WithdrawalFailed"])
        committed.length = 0
        yield* fail({ ...row, dispatchedAtMillis: claim.atMillis }, "node_error", claim)
        assert.deepStrictEqual(committed, ["WithdrawalFailed"])
      })
  )

  it.effect(
    "payment worker: a node refuses an invoice for certain only ten minutes after it expired, and never an offer",
    () =>
      run({ isPending: true }, function* () {
        const { row } = yield* claimed
        const { byInvoice, byOffer, lookup } = yield* NodePayments.make
        const bolt11 = Result.getOrThrow(Bolt11.decode(row.recipient))
        const isRefused = byInvoice(row, bolt11, null).isRefused
        const lastMillis = Bolt11.expiresAtSeconds(bolt11) * 1000 + 600_000
        assert.deepStrictEqual([isRefused(lastMillis), isRefused(lastMillis + 1)], [false, true])
        const offer = Result.getOrThrow(Bolt12.decode((yield* outside({ type: "bolt12_offer" })).destination))
        assert.isFalse(byOffer(row, offer).isRefused(lastMillis * 2))
        assert.deepStrictEqual(yield* lookup(row), { _tag: "unknown" }, "not sent, so the node was not asked")
      })
  )
})
