import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Deferred, Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import type * as Limits from "@satrail/core/accounts/Limits"
import { Stops } from "@satrail/core/accounts/Stops"
import { Feed } from "@satrail/core/events/Feed"
import * as Catalogue from "@satrail/service/core/Catalogue"
import * as Notice from "@satrail/core/events/Notice"
import * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Backlog } from "@satrail/core/reports/reconciliation/Backlog"
import { withdrawal } from "@satrail/contracts/Rows"
import type { Asked } from "@satrail/core/sending/WithdrawalHooks"
import { hook } from "../../../src/approvals/core/ApprovalHook.ts"
import { waitMillis } from "../../../src/approvals/core/Approval.ts"
import { Approvals } from "../../../src/approvals/core/Approvals.ts"
import { Refunds } from "../../../src/refunds/core/Refunds.ts"
import { Vouchers } from "../../../src/vouchers/core/Vouchers.ts"
import { taskKind, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { settings as usual } from "../../../../core/test/Rows.ts"
import {
  asked,
  beginsAtMillis,
  companyWith,
  everywhere,
  has,
  invoice,
  made,
  now,
  outside,
  type Ports,
  replace,
  request,
  said,
  scenario,
  start,
  step,
  weather
} from "../../../../core/test/World.ts"

type Key = NonNullable<Limits.Spender["apiKey"]>
const keyOf = (id: string, spendsAs: string | null = null): Key => ({
  id,
  limits: { approvalAboveSats: 500 },
  spendsAs
})
const [asks, approves] = [keyOf("asks"), keyOf("approves")]

const send = Effect.fnUntraced(function* (
  company: Company,
  sats: number,
  apiKey = asks,
  destination?: string
) {
  const to = destination ?? (yield* outside({ sats })).destination
  return yield* made(
    (yield* Withdrawals).confirm({ company, apiKey, asked: undefined, destination: to, metadata: {} })
  )
})
const approve = (company: Company, { id }: Withdrawal, apiKey = approves) =>
  Effect.flatMap(Approvals, (approvals) => approvals.approve({ company, apiKey, id }))
const reject = (company: Company, { id }: Withdrawal, apiKey = approves) =>
  Effect.flatMap(Approvals, (approvals) => approvals.reject({ company, apiKey, id }))
const expire = Effect.flatMap(Approvals, ({ expire }) => expire)
const stands = (row: Withdrawal) =>
  Effect.map(now(row), ({ status, approval, failure }) => [status, approval, failure])
const held = (company: Company) => Effect.map(has(company), ({ held }) => held)

/** What the hook decides about a withdrawal that costs this many msat, fees included. */
const decided = (msat: bigint, recipient: object = {}) =>
  hook.mayBegin({
    spender: { company: { id: "payer" }, apiKey: asks },
    recipient,
    withdrawal: withdrawal({ amount: Msat.make(msat - 15n), createdAtMillis: beginsAtMillis })
  } as unknown as Asked)

describe("Withdrawals that need another key's approval", () => {
  it.effect("approval: a withdrawal of exactly the threshold, fees included, needs no approval", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* decided(500_000n))
      assert.strictEqual((yield* decided(500_001n))?.approval, "waiting")
    })
  )

  it.effect("approval: a withdrawal to an offer waits no longer than the offer is valid", () =>
    Effect.gen(function* () {
      const at = (bolt12: object) =>
        Effect.map(decided(1_000_000n, { bolt12 }), (waits) => waits?.approvalExpiresAtMillis)
      assert.deepStrictEqual(
        [yield* at({ absoluteExpirySeconds: beginsAtMillis / 1000 + 60 }), yield* at({})],
        [beginsAtMillis + 60_000, beginsAtMillis + waitMillis]
      )
    })
  )

  scenario(
    "approval: a withdrawal above the threshold, fees included, is sent only after another key approves it; every other withdrawal is sent immediately",
    function* () {
      const company = yield* companyWith(100_000)
      const small = yield* send(company, 400)
      const row = yield* send(company, 1000)
      assert.deepStrictEqual([small.approval, row.approval, row.approvalAskedBy], [null, "waiting", "asks"])
      for (let i = 0; i < 3; i++) yield* step
      assert.deepStrictEqual(
        [(yield* now(small)).status, yield* stands(row)],
        ["settled", ["pending", "waiting", null]]
      )
      yield* approve(company, row)
      yield* step
      assert.deepStrictEqual(yield* stands(row), ["settled", "approved", null])
    }
  )

  scenario(
    "approval: neither the requesting key nor its replacement can approve a withdrawal; a second approval changes nothing",
    function* () {
      const company = yield* companyWith(100_000)
      const row = yield* send(company, 1000)
      for (const key of [asks, keyOf("fresh", "asks")])
        assert.strictEqual(yield* said(approve(company, row, key)), "ApprovalByAsker")
      const replaced = yield* send(company, 1000, keyOf("fresh", "asks"))
      assert.strictEqual(yield* said(approve(company, replaced, asks)), "ApprovalByAsker")
      const one = yield* approve(company, row)
      const again = yield* approve(company, row, keyOf("third"))
      assert.deepStrictEqual(
        [again.approvalBy, again.approvalAtMillis],
        [one.approvalBy, one.approvalAtMillis]
      )
      assert.strictEqual(yield* said(reject(company, row)), "ApprovalOver")
      assert.strictEqual(
        yield* said(approve(yield* companyWith(10), replaced)),
        "NotFound",
        "another company cannot find the withdrawal"
      )
      yield* reject(company, replaced, asks)
    }
  )

  scenario("approval: a rejection releases all the held funds and is final", function* () {
    const company = yield* companyWith(100_000)
    const row = yield* send(company, 1000)
    assert.isTrue((yield* held(company)) > 1000)
    yield* reject(company, row)
    yield* reject(company, row, keyOf("third"))
    assert.strictEqual(yield* held(company), 0)
    assert.strictEqual(yield* said(approve(company, row)), "ApprovalOver")
    yield* step
    assert.deepStrictEqual(yield* stands(row), ["failed", "rejected", "approval_rejected"])
  })

  scenario(
    "approval: an unapproved withdrawal expires with its invoice or after a day, and its funds are released",
    function* () {
      const company = yield* companyWith(100_000)
      const there = (yield* outside({ type: "lightning_address" })).destination
      const byAddress = yield* made(
        (yield* Withdrawals).confirm({
          company,
          apiKey: asks,
          asked: yield* asked(1000),
          destination: there,
          metadata: {}
        })
      )
      const byInvoice = yield* send(company, 1000)
      const soon = byInvoice.approvalExpiresAtMillis ?? 0
      assert.isBelow(soon, beginsAtMillis + waitMillis)
      assert.strictEqual(byAddress.approvalExpiresAtMillis, beginsAtMillis + waitMillis)
      yield* TestClock.adjust(soon - beginsAtMillis)
      // The approval has expired even though the worker has not run yet.
      assert.notStrictEqual(yield* said(approve(company, byInvoice)), "ok")
      assert.strictEqual(yield* expire, 1)
      assert.deepStrictEqual(yield* stands(byInvoice), ["failed", "expired", "approval_expired"])
      assert.deepStrictEqual(yield* stands(byAddress), ["pending", "waiting", null])
      yield* TestClock.adjust(beginsAtMillis + waitMillis - soon)
      assert.strictEqual(yield* said(approve(company, byAddress)), "ApprovalOver")
      yield* expire
      assert.strictEqual(yield* held(company), 0)
    }
  )

  let broken: string | undefined
  const breaking = replace(Journal, (journal) => ({
    commit: (change) =>
      change._tag === "WithdrawalRejected" && change.companyId === broken
        ? Effect.die("a drill")
        : journal.commit(change)
  }))
  scenario(
    "approval: no number of withdrawals that cannot expire stops other companies' withdrawals from expiring",
    { change: breaking, logsErrors: true },
    function* () {
      const [company, other] = [yield* companyWith(200_000), yield* companyWith(100_000)]
      broken = company.id
      for (let i = 0; i < 101; i++) yield* send(company, 1000)
      yield* TestClock.adjust("1 second")
      const row = yield* send(other, 1000)
      yield* TestClock.adjust("1 day")
      for (let i = 0; i < 3; i++) yield* expire
      assert.deepStrictEqual(yield* stands(row), ["failed", "expired", "approval_expired"])
      broken = undefined
      assert.strictEqual(yield* expire, 101)
      assert.strictEqual(yield* held(company), 0)
    }
  )

  scenario(
    "approval: after a long wait for approval, a payee's server that is down still gets the usual time to recover",
    function* () {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ type: "lightning_address" })
      const row = yield* made(
        (yield* Withdrawals).confirm({
          company,
          apiKey: asks,
          asked: yield* asked(1000),
          destination,
          metadata: {}
        })
      )
      yield* TestClock.adjust("20 hours")
      yield* approve(company, row)
      for (let i = 0; i < 3; i++) yield* step
      assert.strictEqual((yield* now(row)).status, "settled")
    }
  )

  scenario(
    "approval: a frozen company's withdrawal can be rejected but not approved, and a pause delays an approved withdrawal like any other withdrawal",
    function* () {
      const company = yield* companyWith(100_000)
      const [row, rejected] = [yield* send(company, 1000), yield* send(company, 1000)]
      yield* everywhere(
        Effect.flatMap(Companies, ({ freeze }) => freeze(company.id, { reason: "a drill", pending: "wait" }))
      )
      assert.strictEqual(yield* said(approve(company, row)), "CompanyFrozen")
      yield* reject(company, rejected)
      yield* everywhere(Effect.flatMap(Companies, ({ unfreeze }) => unfreeze(company.id)))
      yield* everywhere(Effect.flatMap(Stops, ({ pause }) => pause("sending")))
      yield* approve(company, row)
      yield* step
      assert.deepStrictEqual(yield* stands(row), ["pending", "approved", null])
      yield* everywhere(Effect.flatMap(Stops, ({ resume }) => resume("sending")))
      yield* TestClock.adjust("5 seconds")
      yield* step
      assert.strictEqual((yield* now(row)).status, "settled")
    }
  )

  const twoHours = 2 * 3_600_000
  const afterRestore = replace(Journal, (journal) =>
    Journal.of({
      commit: (change) => {
        const { _tag, id, atMillis, jobs = [] } = change
        if (_tag !== "WithdrawalRequested" || jobs.length > 0) return journal.commit(change)
        return journal.commit({
          ...change,
          jobs: [Change.enqueue({ id, kind: taskKind, dueAtMillis: atMillis + twoHours })]
        })
      }
    })
  )
  // docs/guides/deploy.md adds these tasks.
  scenario(
    "approval: a withdrawal that was waiting in a restored dump is sent only once it is approved and the operator releases its task; a rejection removes the task",
    { change: afterRestore },
    function* () {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ type: "lightning_address" })
      const ask = { company, apiKey: asks, asked: yield* asked(1000), destination, metadata: {} }
      const send = Effect.flatMap(Withdrawals, (withdrawals) => made(withdrawals.confirm(ask)))
      const [approved, released, rejected] = [yield* send, yield* send, yield* send]
      const steps = Effect.forEach([1, 2, 3], () => step)
      yield* approve(company, approved)
      yield* steps
      assert.deepStrictEqual(yield* stands(approved), ["pending", "approved", null])
      yield* TestClock.adjust(twoHours)
      yield* steps
      assert.deepStrictEqual(yield* stands(approved), ["settled", "approved", null])
      assert.deepStrictEqual(yield* stands(released), ["pending", "waiting", null])
      yield* approve(company, released)
      yield* TestClock.adjust("5 seconds")
      yield* steps
      assert.deepStrictEqual(yield* stands(released), ["settled", "approved", null])
      const job = Effect.flatMap(LedgerReads, (ledger) => ledger.job(company.id, rejected.id))
      assert.isTrue(Option.isSome(yield* job))
      yield* reject(company, rejected)
      assert.isTrue(Option.isNone(yield* job))
    }
  )

  /** Requests a withdrawal of 1000 sats with a stored key, in a company that can afford it. */
  const waiting = Effect.gen(function* () {
    const company = yield* companyWith(100_000)
    const limits = { approvalAboveSats: 500 }
    const ask = {
      companyId: company.id,
      name: "program",
      scopes: ["send"],
      expiresAtMillis: null,
      limits
    } as const
    const { apiKey } = yield* made((yield* ApiKeys).issue(ask))
    return { company, apiKey, row: yield* send(company, 1000, apiKey), limits }
  })
  for (const [limit, tightened] of [
    ["per_withdrawal_sats", { perWithdrawalSats: 1000 }],
    ["recipient_types", { recipientTypes: ["lightning_address"] }],
    ["hour_sats", { hourSats: 1000 }],
    ["day_count", { dayCount: 0 }]
  ] as const) {
    scenario(
      `approval: a withdrawal that ${limit}, lowered since its request, no longer allows can only be rejected`,
      function* () {
        const [keys, companies] = [yield* ApiKeys, yield* Companies]
        const { company, apiKey, row, limits } = yield* waiting
        yield* everywhere(keys.limit(apiKey.id, tightened))
        assert.deepInclude(yield* Effect.flip(approve(company, row)), {
          _tag: "LimitExceeded",
          of: "key",
          limit
        })
        yield* everywhere(keys.limit(apiKey.id, limits))
        const changed = yield* everywhere(companies.limit(company.id, tightened))
        assert.deepInclude(yield* Effect.flip(approve(changed, row)), {
          _tag: "LimitExceeded",
          of: "company",
          limit
        })
        yield* reject(company, row)
        assert.strictEqual(yield* held(company), 0)
      }
    )
  }

  scenario(
    "approval: a withdrawal above a maximum that the operator lowered since its request can only be rejected",
    function* () {
      const company = yield* companyWith(100_000)
      const row = yield* send(company, 1000)
      const restarted = yield* start(yield* Effect.context<Ports>(), {
        ...usual,
        maxWithdrawal: Msat.fromSats(999)
      })
      const refusal = yield* Effect.flip(Effect.provideContext(approve(company, row), restarted))
      assert.deepInclude(refusal, { _tag: "DestinationRefused", code: "amount_out_of_range" })
      yield* reject(company, row)
      assert.strictEqual(yield* held(company), 0)
    }
  )

  scenario(
    "approval: a lowered limit allows as many of the waiting withdrawals as it allows together, also if the key was replaced",
    function* () {
      const keys = yield* ApiKeys
      const { company, apiKey, row, limits } = yield* waiting
      const other = yield* send(company, 1000, apiKey)
      const fresh = yield* everywhere(made(keys.rotate(apiKey.id, 0)))
      yield* everywhere(keys.limit(fresh.apiKey.id, { ...limits, daySats: 1500 }))
      assert.deepInclude(yield* Effect.flip(approve(company, row)), {
        _tag: "LimitExceeded",
        of: "key",
        limit: "day_sats"
      })
      yield* reject(company, other)
      yield* approve(company, row)
    }
  )

  scenario(
    "approval: a withdrawal can only be rejected once the key that replaced its key is revoked",
    function* () {
      const keys = yield* ApiKeys
      const { company, apiKey, row } = yield* waiting
      const fresh = yield* everywhere(made(keys.rotate(apiKey.id, 0)))
      yield* everywhere(keys.revoke(fresh.apiKey.id))
      yield* made(
        keys.issue({ companyId: company.id, name: "unrelated", scopes: ["send"], expiresAtMillis: null })
      )
      assert.strictEqual(yield* said(approve(company, row)), "RequesterGone")
      yield* reject(company, row)
    }
  )

  const [begun, answered] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  let isSlow = false
  const slowPayee = replace(Resolver, (resolver) => ({
    offer: (url) =>
      Effect.suspend(() =>
        isSlow
          ? Deferred.succeed(begun, undefined).pipe(
              Effect.andThen(Deferred.await(answered)),
              Effect.andThen(resolver.offer(url))
            )
          : resolver.offer(url)
      )
  }))
  scenario(
    "approval: a company limit lowered while the payee's server delays an approval applies to that approval",
    { change: slowPayee },
    function* () {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ type: "lightning_address" })
      const row = yield* made(
        (yield* Withdrawals).confirm({
          company,
          apiKey: asks,
          asked: yield* asked(1000),
          destination,
          metadata: {}
        })
      )
      const ask = { companyId: company.id, name: "boss", scopes: ["approve"], expiresAtMillis: null } as const
      const { apiKey } = yield* made((yield* ApiKeys).issue(ask))
      isSlow = true
      const approving = yield* Effect.forkChild(said(approve(company, row, apiKey)))
      yield* Deferred.await(begun)
      yield* everywhere(
        Effect.flatMap(Companies, ({ limit }) => limit(company.id, { perWithdrawalSats: 500 }))
      )
      yield* Deferred.succeed(answered, undefined)
      assert.strictEqual(yield* Fiber.join(approving), "LimitExceeded")
      assert.deepStrictEqual(yield* stands(row), ["pending", "waiting", null])
      isSlow = false
      yield* reject(company, row)
    }
  )

  scenario(
    "approval: if a lowered limit does not allow a withdrawal now, the error says when it will",
    function* () {
      const keys = yield* ApiKeys
      const { company, apiKey, limits } = yield* waiting
      const limited = yield* everywhere(keys.limit(apiKey.id, { ...limits, hourSats: 10_000 }))
      const { destination } = yield* outside({ type: "lightning_address" })
      const ask = { company, apiKey: limited, asked: yield* asked(1000), destination, metadata: {} }
      const row = yield* made((yield* Withdrawals).confirm(ask))
      yield* TestClock.adjust("30 minutes")
      yield* send(company, 400, limited)
      yield* everywhere(keys.limit(apiKey.id, { ...limits, hourSats: 1200 }))
      const refusal = yield* Effect.flip(approve(company, row))
      assert(refusal._tag === "LimitExceeded" && typeof refusal.freesAtMillis === "number")
      yield* TestClock.setTime(refusal.freesAtMillis - 1)
      assert.strictEqual(yield* said(approve(company, row)), "LimitExceeded")
      yield* TestClock.setTime(refusal.freesAtMillis)
      yield* approve(company, row)
    }
  )

  scenario(
    "approval: a refund waits until its withdrawal is approved; if the withdrawal is rejected, that part of the deposit can be refunded again",
    function* () {
      const company = yield* companyWith(10_000)
      const [deposit] = (yield* (yield* Transactions).list(company.id, { limit: 1 })).rows
      const refunds = yield* Refunds
      const { destination } = yield* outside({ sats: 1000 })
      const words = { description: "", expirySeconds: 3600, metadata: {} }
      const of = { depositId: deposit?.id ?? assert.fail("no deposit") }
      const { refund } = yield* made(
        refunds.create({ company, apiKey: asks, ...of, asked: undefined, destination, ...words })
      )
      const paid = { companyId: company.id, id: refund.withdrawalId ?? assert.fail("no withdrawal") }
      const row = yield* (yield* Transactions).withdrawal(paid.companyId, paid.id)
      assert.deepStrictEqual([refund.status, row.approval], ["pending", "waiting"])
      yield* reject(company, row)
      yield* refunds.step
      assert.strictEqual((yield* refunds.get(company.id, refund.id)).status, "failed")
      const link = refunds.create({
        company,
        apiKey: asks,
        ...of,
        asked: yield* asked(1000),
        destination: undefined,
        ...words
      })
      assert.strictEqual(
        yield* said(link),
        "LimitExceeded",
        "anyone with the link could claim it without approval"
      )
    }
  )

  scenario(
    "approval: a new voucher above the threshold is refused, because any holder can claim it; an existing voucher can still be claimed",
    function* () {
      const company = yield* companyWith(10_000)
      const words = { description: "", expirySeconds: 3600, metadata: {} }
      const create = (apiKey: Key | undefined) =>
        Effect.flatMap(Vouchers, (vouchers) =>
          Effect.flatMap(asked(1000), (amount) => vouchers.create({ company, apiKey, ...amount, ...words }))
        )
      assert.strictEqual(yield* said(create(asks)), "LimitExceeded")
      const { url } = yield* made(create(undefined))
      const k1 = new URL(Redacted.value(url)).searchParams.get("k1") ?? assert.fail("no secret in the link")
      yield* (yield* Vouchers).claim({
        k1,
        pr: (yield* outside({ sats: 1000 })).destination,
        caller: "wallet"
      })
      yield* step
      assert.strictEqual(yield* held(company), 0)
    }
  )

  scenario(
    "approval: the company's threshold applies to all its keys and to an embedding application",
    function* () {
      const row = yield* companyWith(10_000)
      const company: Company = { ...row, limits: { approvalAboveSats: 500 } }
      const { destination } = yield* outside({ sats: 1000 })
      const one = yield* made(
        (yield* Withdrawals).confirm({
          company,
          asked: undefined,
          destination,
          metadata: {},
          request: request("k")
        })
      )
      assert.deepStrictEqual([one.approval, one.approvalAskedBy], ["waiting", null])
      yield* approve(company, one)
      yield* step
      assert.strictEqual((yield* now(one)).status, "settled")
    }
  )

  scenario("approval: events report each status: waiting, pending and final", function* () {
    const company = yield* companyWith(10_000)
    const row = yield* send(company, 1000)
    yield* approve(company, row)
    yield* step
    yield* reject(company, yield* send(company, 1000))
    const ids = yield* Feed
    const render = (notice: Notice.Notice) =>
      JSON.stringify([
        notice.type,
        notice.kind === "withdrawal" && [notice.record.status, notice.record.approval]
      ])
    const { items } = yield* ids.page(
      {
        companyId: company.id,
        after: Notice.first,
        limit: 100,
        types: new Set(Notice.matching("withdrawal.*", Catalogue.types))
      },
      render
    )
    assert.deepStrictEqual(
      items.map(({ body }) => JSON.parse(body)),
      [
        ["withdrawal.lightning.pending_approval", ["pending", "waiting"]],
        ["withdrawal.lightning.pending", ["pending", "approved"]],
        ["withdrawal.lightning.completed", ["settled", "approved"]],
        ["withdrawal.lightning.pending_approval", ["pending", "waiting"]],
        ["withdrawal.lightning.failed", ["failed", "rejected"]]
      ]
    )
  })

  scenario(
    "approval: the operator sees which withdrawals are waiting for approval, and who approved a withdrawal",
    function* () {
      const company = yield* companyWith(10_000)
      const row = yield* send(company, 1000)
      const backlog = yield* Backlog
      assert.strictEqual((yield* backlog.all).withdrawal_unapproved.count, 1)
      const waits = yield* backlog.withdrawal(row.id)
      assert.include(waits.waits?.for ?? "", "Another key")
      yield* approve(company, row)
      yield* step
      const { timeline } = yield* backlog.withdrawal(row.id)
      assert.deepStrictEqual(
        timeline.map(({ what, detail }) => (what === "approved" ? `${what} by ${detail}` : what)),
        ["requested", "approved by approves", "dispatched", "settled"]
      )
    }
  )

  scenario(
    "approval: a withdrawal to our own invoice cannot be approved once the invoice has been paid",
    function* () {
      const [company, payee] = [yield* companyWith(10_000), yield* companyWith(10_000)]
      const { paymentRequest } = yield* invoice(payee, 1000)
      const [one, two] = [
        yield* send(company, 1000, asks, paymentRequest),
        yield* send(company, 1000, asks, paymentRequest)
      ]
      yield* approve(company, one)
      yield* step
      assert.strictEqual((yield* now(one)).status, "settled")
      assert.strictEqual(yield* said(approve(company, two)), "DestinationRefused: invoice_not_payable")
      yield* reject(company, two)
      assert.strictEqual(yield* held(company), 0)
    }
  )

  scenario(
    "approval: if the fee exceeds the amount held for it, the withdrawal waits until the fee falls",
    () => weather(),
    function* ({ sky }) {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ type: "chain_address" })
      const row = yield* made(
        (yield* Withdrawals).confirm({
          company,
          apiKey: asks,
          asked: yield* asked(10_000),
          destination,
          metadata: {}
        })
      )
      const before = sky.rate
      sky.rate = before * 4
      assert.strictEqual(yield* said(approve(company, row)), "ApprovalFeeRisen")
      assert.deepStrictEqual(yield* stands(row), ["pending", "waiting", null])
      sky.rate = before
      yield* approve(company, row)
      yield* reject(company, yield* send(company, 1000))
    }
  )
})
