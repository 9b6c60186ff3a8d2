import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Redacted } from "effect"
import type { Company } from "../src/accounts/Company.ts"
import { Approvals } from "@satrail/features/approvals/core/Approvals"
import { Refunds } from "@satrail/features/refunds/core/Refunds"
import { Vouchers } from "@satrail/features/vouchers/core/Vouchers"
import * as Limit from "../src/ledger/Limit.ts"
import { Transactions } from "../src/reports/Transactions.ts"
import { DestinationRefused } from "../src/sending/Recipient.ts"
import { type Hook, Hooks } from "../src/sending/WithdrawalHooks.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { asked, companyWith, has, made, now, outside, said, scenario, step, type World } from "./World.ts"

/** A hook that refuses listed destinations, as an application's hook might. */
const listing = (...others: ReadonlyArray<Hook>): World & { readonly listed: Set<string> } => {
  const listed = new Set<string>()
  const refuses: Hook = {
    mayBegin: ({ withdrawal: { recipient } }) =>
      listed.has(recipient)
        ? Effect.fail(
            new DestinationRefused({ code: "unsupported", message: "The destination is on a list" })
          )
        : Effect.undefined
  }
  return { listed, change: (ports) => Context.add(ports, Hooks, [...others, refuses]) }
}

/** A hook that makes every withdrawal wait for approval. */
const careful: Hook = {
  mayBegin: ({ spender: { apiKey }, withdrawal: { createdAtMillis } }) =>
    Effect.succeed({
      approval: "waiting",
      approvalAskedBy: apiKey?.id ?? null,
      approvalExpiresAtMillis: createdAtMillis + 60_000
    })
}

/** A hook that refuses vouchers of more than 2000 sats. */
const small: Hook = {
  mayBegin: () => Effect.undefined,
  mayIssue: ({ spender: { company }, amount }) =>
    amount > Msat.fromSats(2000)
      ? Effect.fail(Limit.never("per_withdrawal_sats", company.id, company.id, 2000))
      : Effect.void
}

const keyOf = (id: string) => ({ id, limits: null, spendsAs: null })
const confirming = Effect.fnUntraced(function* (company: Company, destination: string) {
  return yield* made(
    (yield* Withdrawals).confirm({
      company,
      apiKey: keyOf("asks"),
      asked: undefined,
      destination,
      metadata: {}
    })
  )
})
const words = { description: "", expirySeconds: 3600, metadata: {} }
const exceeded = "LimitExceeded"
const refused = "DestinationRefused: unsupported"

describe("An embedding application's hooks for withdrawals", () => {
  scenario(
    "withdrawal hooks: if the application refuses a destination, no withdrawal, refund or voucher is created and nothing is held",
    () => listing(),
    function* ({ listed }) {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ sats: 1000 })
      const [deposit] = (yield* (yield* Transactions).list(company.id, { limit: 1 })).rows
      const of = { depositId: deposit?.id ?? assert.fail("no deposit") }
      const { url } = yield* made((yield* Vouchers).create({ company, ...(yield* asked(1000)), ...words }))
      const k1 = new URL(Redacted.value(url)).searchParams.get("k1") ?? assert.fail("no secret in the link")
      const before = yield* has(company)
      const claim = Effect.flatMap(Vouchers, (vouchers) =>
        vouchers.claim({ k1, pr: destination, caller: "wallet" })
      )
      const refund = Effect.flatMap(Refunds, ({ create }) =>
        create({ company, ...of, asked: undefined, destination, ...words })
      )
      listed.add(destination)
      assert.deepStrictEqual(
        [yield* said(confirming(company, destination)), yield* said(refund), yield* said(claim)],
        [refused, refused, "VoucherRefused: invoice"]
      )
      assert.deepStrictEqual(yield* has(company), before)
      listed.clear()
      yield* claim
      yield* step
      assert.isBelow((yield* has(company)).held, before.held)
    }
  )

  scenario(
    "withdrawal hooks: a voucher or refund link that the application refuses is not created, and nothing is held",
    () => listing(small),
    function* () {
      const company = yield* companyWith(100_000)
      const [deposit] = (yield* (yield* Transactions).list(company.id, { limit: 1 })).rows
      const of = { depositId: deposit?.id ?? assert.fail("no deposit") }
      const before = yield* has(company)
      const create = (sats: number) =>
        Effect.gen(function* () {
          yield* (yield* Vouchers).create({ company, ...(yield* asked(sats)), ...words })
        })
      const refund = Effect.flatMap(Refunds, ({ create }) =>
        create({ company, ...of, asked: undefined, destination: undefined, ...words })
      )
      assert.deepStrictEqual([yield* said(create(3000)), yield* said(refund)], [exceeded, exceeded])
      assert.deepStrictEqual(yield* has(company), before)
      yield* create(1000)
    }
  )

  scenario(
    "withdrawal hooks: a withdrawal delayed by the application must be approved by another key, and every hook runs at the request and again at the approval",
    () => listing(careful),
    function* ({ listed }) {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ sats: 1000 })
      listed.add(destination)
      assert.strictEqual(yield* said(confirming(company, destination)), refused)
      listed.clear()
      const row = yield* confirming(company, destination)
      const approve = (by: string) =>
        Effect.flatMap(Approvals, (approvals) =>
          approvals.approve({ company, apiKey: keyOf(by), id: row.id })
        )
      yield* step
      assert.deepStrictEqual(
        [(yield* now(row)).approval, yield* said(approve("asks"))],
        ["waiting", "ApprovalByAsker"]
      )
      listed.add(destination)
      assert.strictEqual(yield* said(approve("approves")), refused)
      listed.clear()
      yield* approve("approves")
      yield* step
      assert.strictEqual((yield* now(row)).status, "settled")
    }
  )
})
