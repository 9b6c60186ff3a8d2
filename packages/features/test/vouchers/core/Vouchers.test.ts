import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "@satrail/core/accounts/Company"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Throttle from "@satrail/core/base/Throttle"
import { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Records } from "@satrail/core/service/Records"
import * as Voucher from "../../../src/vouchers/core/Voucher.ts"
import type { Issued } from "../../../src/vouchers/core/VoucherDrafts.ts"
import { Vouchers } from "../../../src/vouchers/core/Vouchers.ts"
import { settings } from "../../../../core/test/Rows.ts"
import {
  accounts,
  asked,
  company,
  companyWith,
  confirm,
  got,
  has,
  invoice,
  made,
  outside,
  type Ports,
  type Process,
  replace,
  run,
  said,
  scenario,
  step,
  steps
} from "../../../../core/test/World.ts"

const crowd = { ...settings, lnurl: { ...settings.lnurl, perCaller: Throttle.perMinute(1000) } }

/** Lets concurrent claims read before any of them commits. */
const atOnce = {
  settings: crowd,
  change: replace(Journal, (journal) => ({
    commit: (change) =>
      change._tag === "VoucherClaimed"
        ? Effect.andThen(Effect.yieldNow, journal.commit(change))
        : journal.commit(change)
  }))
}

const create = Effect.fnUntraced(function* (
  company: Company,
  sats: number | string,
  more: {
    readonly expirySeconds?: number
    readonly description?: string
    readonly metadata?: Record<string, string>
  } = {}
) {
  const { expirySeconds = 3600, description = "a gift", metadata = {} } = more
  return yield* (yield* Vouchers).create({
    company,
    ...(yield* asked(sats)),
    description,
    expirySeconds,
    metadata
  })
})
const issue = Effect.fnUntraced(function* (company: Company, sats: number, expirySeconds = 3600) {
  return yield* made(create(company, sats, { expirySeconds }))
})
const secretOf = ({ url }: Issued) =>
  new URL(Redacted.value(url)).searchParams.get("k1") ?? assert.fail("no secret in the link")
const claim = Effect.fnUntraced(function* (issued: Issued, pr: string, caller = "wallet") {
  return yield* (yield* Vouchers).claim({ k1: secretOf(issued), pr, caller })
})
const cancel = ({ voucher: { companyId, id } }: Issued) =>
  Effect.flatMap(Vouchers, (vouchers) => vouchers.cancel(companyId, id))
const expire = Effect.flatMap(Vouchers, (vouchers) => vouchers.step)
const now = ({ voucher: { companyId, id } }: Issued) =>
  Effect.flatMap(Vouchers, (vouchers) => vouchers.get(companyId, id))
const withdrawalOf = Effect.fnUntraced(function* (issued: Issued) {
  const { companyId, withdrawalId } = yield* now(issued)
  return Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, withdrawalId ?? ""))
})

describe("A voucher", () => {
  scenario(
    "voucher: a voucher holds its amount and the fees of a Lightning payment, and pays the first invoice presented",
    function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000)
      // 0.2 % for the service, and 5 sats plus 0.5 % for routing.
      assert.strictEqual(Voucher.held(issued.voucher), Msat.make(1_012_000n))
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      yield* claim(issued, destination)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      yield* step
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      const withdrawal = yield* withdrawalOf(issued)
      assert.deepStrictEqual(
        [withdrawal.status, withdrawal.ledgerTxId],
        ["settled", issued.voucher.ledgerTxId]
      )
    }
  )

  scenario("voucher: a voucher's secret is not stored; the store has only the secret's hash", function* () {
    const issued = yield* issue(yield* companyWith(5000), 1000)
    const k1 = secretOf(issued)
    assert.match(k1, /^[0-9a-f]{64}$/)
    assert.notInclude(
      JSON.stringify(issued, (_, value) => (typeof value === "bigint" ? String(value) : value)),
      k1
    )
    assert.strictEqual((yield* now(issued)).secretHash, SecretHash.of(k1))
    assert.notInclude(
      JSON.stringify(yield* now(issued), (_, value) => (typeof value === "bigint" ? String(value) : value)),
      k1
    )
    assert.notStrictEqual(secretOf(yield* issue(yield* companyWith(5000), 1000)), k1)
  })

  scenario(
    "C18: voucher: of fifty wallets claiming at the same time, one is paid; the others are refused",
    { ...atOnce },
    function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000)
      const invoices = yield* Effect.forEach(Array.from({ length: 50 }), () => outside({ sats: 1000 }))
      const answers = yield* Effect.forEach(invoices, ({ destination }) => said(claim(issued, destination)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.toSorted(), [
        ...Array.from({ length: 49 }, () => "VoucherRefused: claimed"),
        "ok"
      ])
      yield* steps(3)
      const paid = yield* Effect.forEach(invoices, ({ paymentHash }) => got(paymentHash))
      assert.strictEqual(
        paid.reduce((sum, { sats }) => sum + sats, 0),
        1000
      )
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
    }
  )

  scenario(
    "C18: voucher: fifty simultaneous claims with the same invoice pay it once and return the same result",
    { ...atOnce },
    function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000)
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => said(claim(issued, destination)),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(new Set(answers), new Set(["ok"]))
      yield* steps(3)
      for (const same of [destination.toUpperCase(), `lightning:${destination}`])
        assert.strictEqual(yield* said(claim(issued, same)), "ok", same)
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
    }
  )

  it.effect("voucher: a claim repeated while the first is committed and sent returns the same result", () => {
    let overtake: Effect.Effect<unknown> | undefined
    const overtaken = replace(SendingReads, (reads) => ({
      withdrawalByHash: (hash) => {
        const first = overtake ?? Effect.void
        overtake = undefined
        return Effect.andThen(first, reads.withdrawalByHash(hash))
      }
    }))
    return run({ settings: crowd, change: overtaken }, function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000)
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      const services = yield* Effect.context<Ports | Process>()
      overtake = Effect.provideContext(
        Effect.orDie(Effect.andThen(claim(issued, destination), step)),
        services
      )
      assert.strictEqual(yield* said(claim(issued, destination)), "ok")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      const other = yield* outside({ sats: 1000 })
      assert.strictEqual(yield* said(claim(issued, other.destination)), "VoucherRefused: claimed")
    })
  })

  scenario(
    "voucher: a voucher is claimed only with a payable invoice for exactly its amount, and stays open after any other attempt",
    function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000)
      const paid = (yield* outside({ sats: 1000 })).destination
      yield* confirm(payer, paid)
      yield* step
      const mainnet =
        "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"
      const wrong = {
        "more than the voucher's amount": (yield* outside({ amount: Msat.make(1_000_001n) })).destination,
        "less than the voucher's amount": (yield* outside({ amount: Msat.make(999_999n) })).destination,
        "any amount": (yield* outside()).destination,
        "an invoice that expires too soon": (yield* outside({ sats: 1000, expirySeconds: 9 })).destination,
        "another network": mainnet,
        "an invoice that another withdrawal paid": paid,
        "an address": (yield* outside({ type: "chain_address" })).destination,
        "a Lightning address": (yield* outside({ type: "lightning_address" })).destination,
        nothing: "",
        nonsense: "lnbcrt1nonsense",
        "a NUL": "\0"
      }
      for (const [what, pr] of Object.entries(wrong))
        assert.strictEqual(yield* said(claim(issued, pr)), "VoucherRefused: invoice", what)
      assert.strictEqual((yield* now(issued)).status, "open")
      yield* claim(issued, (yield* outside({ sats: 1000 })).destination)
      yield* steps(3)
    }
  )

  scenario(
    "voucher: if two vouchers are claimed with one invoice, the invoice is paid once and the other voucher's funds are released",
    function* () {
      const payer = yield* companyWith(5000)
      const [one, other] = [yield* issue(payer, 1000), yield* issue(payer, 1000)]
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      yield* Effect.all([claim(one, destination), claim(other, destination)], { concurrency: "unbounded" })
      yield* steps(4)
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.deepStrictEqual(
        [(yield* withdrawalOf(one)).failure, (yield* withdrawalOf(other)).failure].toSorted(),
        [null, "payment_hash_used"].toSorted()
      )
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
    }
  )

  scenario(
    "voucher: a claim with an invoice issued by this service is settled internally, at the fee set when the voucher was created",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const issued = yield* issue(payer, 1000)
      yield* claim(issued, (yield* invoice(payee, 1000)).paymentRequest)
      yield* steps(2)
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      assert.strictEqual((yield* accounts)["network_fees"], 10)
    }
  )
})

describe("Unclaimed vouchers", () => {
  scenario(
    "voucher: an expired voucher cannot be claimed; the next worker run releases its funds",
    function* () {
      const payer = yield* companyWith(5000)
      const issued = yield* issue(payer, 1000, 60)
      const { destination } = yield* outside({ sats: 1000 })
      yield* TestClock.adjust(59_999)
      assert.strictEqual(yield* expire, 0)
      assert.strictEqual(yield* said(Effect.flatMap(Vouchers, ({ offer }) => offer(secretOf(issued)))), "ok")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* said(claim(issued, destination)), "VoucherRefused: expired")
      assert.strictEqual(
        yield* said(Effect.flatMap(Vouchers, ({ offer }) => offer(secretOf(issued)))),
        "VoucherRefused: expired"
      )
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      assert.strictEqual(yield* expire, 1)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.strictEqual((yield* now(issued)).status, "expired")
      assert.strictEqual(yield* said(claim(issued, destination)), "VoucherRefused: expired")
      assert.strictEqual(yield* expire, 0)
    }
  )

  it.effect("voucher: a voucher is either claimed or expired, never both, whichever happens first", () => {
    let isLate = false
    return run(
      {
        change: replace(Journal, (journal) => ({
          commit: (change) =>
            change._tag === "VoucherClaimed" && isLate
              ? Effect.delay(journal.commit(change), 500)
              : journal.commit(change)
        }))
      },
      function* () {
        const payer = yield* companyWith(50_000)
        for (const late of [false, true]) {
          isLate = late
          const issued = yield* issue(payer, 1000, 60)
          const { destination, paymentHash } = yield* outside({ sats: 1000 })
          yield* TestClock.adjust(59_999)
          // The claim begins before the voucher expires. If `late`, the expiry is committed before the claim.
          const claiming = yield* Effect.forkChild(said(claim(issued, destination)), {
            startImmediately: true
          })
          yield* TestClock.adjust(late ? 1 : 0)
          yield* TestClock.adjust(10)
          yield* expire
          yield* TestClock.adjust(1000)
          const answer = yield* Fiber.join(claiming)
          yield* steps(2)
          const { status } = yield* now(issued)
          assert.deepStrictEqual(
            [answer, status],
            late ? ["VoucherRefused: expired", "expired"] : ["ok", "claimed"]
          )
          assert.strictEqual((yield* got(paymentHash)).times, late ? 0 : 1)
          assert.strictEqual((yield* has(payer)).held, 0)
        }
      }
    )
  })

  scenario(
    "voucher: only a voucher's own company can cancel it, and canceling it again changes nothing",
    function* () {
      const [payer, stranger] = [yield* companyWith(5000), yield* company()]
      const issued = yield* issue(payer, 1000)
      const vouchers = yield* Vouchers
      assert.strictEqual(yield* said(vouchers.cancel(stranger.id, issued.voucher.id)), "NotFound")
      for (let i = 0; i < 3; i++) assert.strictEqual((yield* cancel(issued)).status, "canceled")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.strictEqual(
        yield* said(claim(issued, (yield* outside({ sats: 1000 })).destination)),
        "VoucherRefused: canceled"
      )
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* expire, 0)
    }
  )

  scenario(
    "voucher: all open vouchers of a stolen key or removed person are canceled at once, however many others there are; other makers' stay",
    function* () {
      const payer = yield* companyWith(10_000_000)
      const vouchers = yield* Vouchers
      const by = (id: string | undefined, expirySeconds = 3600) =>
        Effect.gen(function* () {
          const apiKey = id === undefined ? undefined : { id, limits: null, spendsAs: "the line" }
          const ask = {
            company: payer,
            apiKey,
            ...(yield* asked(10)),
            description: "",
            expirySeconds,
            metadata: {}
          }
          return yield* made(vouchers.create(ask))
        })
      const [stolen, successor, person] = [
        "7Kq2mVx9TbZc",
        "successor",
        "018f0000-0000-7000-8000-000000000001"
      ]
      const lost = [yield* by(stolen), yield* by(stolen)]
      const [claimed, expired] = [yield* by(stolen), yield* by(stolen, 60)]
      yield* claim(claimed, (yield* outside({ sats: 10 })).destination)
      yield* TestClock.adjust(60_000)
      const others = [yield* by(successor), yield* by(person), yield* by(undefined)]
      for (let n = 0; n < Page.atOnce; n++) yield* by(successor)
      lost.push(yield* by(stolen))
      const idsOf = (createdBy: string, status?: Voucher.Status) =>
        Effect.map(vouchers.list(payer.id, { limit: 1000, before: null, createdBy, status }), ({ rows }) =>
          rows.map(({ id }) => id)
        )
      assert.sameMembers(
        yield* idsOf(stolen, "open"),
        [...lost, expired].map(({ voucher }) => voucher.id)
      )
      assert.lengthOf(yield* idsOf(stolen), 5)
      const before = yield* has(payer)
      const stranger = yield* companyWith(1)
      assert.strictEqual(yield* vouchers.cancelCreatedBy(stranger.id, stolen), 0)
      assert.strictEqual(yield* vouchers.cancelCreatedBy(payer.id, stolen), 4)
      assert.strictEqual(yield* vouchers.cancelCreatedBy(payer.id, stolen), 0)
      const released = [...lost, expired].reduce((sum, { voucher }) => sum + Number(Voucher.held(voucher)), 0)
      assert.strictEqual(Math.round(1000 * (before.held - (yield* has(payer)).held)), released)
      const pr = (yield* outside({ sats: 10 })).destination
      for (const one of lost) assert.strictEqual(yield* said(claim(one, pr)), "VoucherRefused: canceled")
      for (const { voucher } of others)
        assert.strictEqual((yield* vouchers.get(payer.id, voucher.id)).status, "open")
      assert.strictEqual((yield* vouchers.get(payer.id, claimed.voucher.id)).status, "claimed")
      assert.strictEqual(yield* vouchers.cancelCreatedBy(payer.id, person), 1)
    }
  )

  scenario("voucher: neither a claimed voucher nor an expired one can be canceled", function* () {
    const payer = yield* companyWith(5000)
    const gone = yield* issue(payer, 1000)
    yield* TestClock.adjust("2 hours")
    yield* expire
    assert.strictEqual(yield* said(cancel(gone)), "VoucherNotOpen")
    const issued = yield* issue(payer, 1000)
    yield* claim(issued, (yield* outside({ sats: 1000 })).destination)
    assert.strictEqual(yield* said(cancel(issued)), "VoucherNotOpen")
    yield* steps(2)
    assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
  })
})

describe("Vouchers", () => {
  scenario("voucher: an invalid request is refused and holds nothing", function* () {
    const payer = yield* companyWith(1000)
    assert.strictEqual(yield* said(create(payer, 995)), "InsufficientBalance")
    assert.strictEqual(yield* said(create(payer, 100_000_001)), "Invalid: amount")
    for (const expirySeconds of [59, 60.5, 2_592_001, Number.NaN])
      assert.strictEqual(yield* said(create(payer, 1, { expirySeconds })), "Invalid: expiry_seconds")
    assert.strictEqual(
      yield* said(create(payer, 1, { description: "x".repeat(640) })),
      "Invalid: description"
    )
    assert.strictEqual(yield* said(create(payer, 1, { metadata: { "": "x" } })), "Invalid: metadata")
    assert.deepStrictEqual(yield* has(payer), { posted: 1000, held: 0 })
  })

  scenario("voucher: a voucher cannot be claimed with a different secret, whatever its form", function* () {
    const vouchers = yield* Vouchers
    yield* issue(yield* companyWith(5000), 1000)
    for (const k1 of ["", "0", "00".repeat(32), "é", "\0", "x".repeat(10_000)]) {
      assert.strictEqual(yield* said(vouchers.offer(k1)), "VoucherRefused: not_found")
      assert.strictEqual(
        yield* said(vouchers.claim({ k1, pr: "", caller: "wallet" })),
        "VoucherRefused: not_found"
      )
    }
  })

  scenario(
    "voucher: the rate of claims by one caller is limited",
    {
      settings: { ...settings, lnurl: { ...settings.lnurl, perCaller: { count: 2, everyMillis: 3_600_000 } } }
    },
    function* () {
      const issued = yield* issue(yield* companyWith(5000), 1000)
      for (const expected of [
        "VoucherRefused: invoice",
        "VoucherRefused: invoice",
        "VoucherRefused: too_many"
      ])
        assert.strictEqual(yield* said(claim(issued, "")), expected)
      assert.strictEqual(yield* said(claim(issued, "", "another")), "VoucherRefused: invoice")
    }
  )

  it.effect("voucher: an expiry that could not be stored is retried", () => {
    let isAway = true
    return run(
      {
        logsErrors: true,
        change: replace(Journal, (journal) => ({
          commit: (change) =>
            change._tag === "VoucherExpired" && isAway
              ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: "no answer" }))
              : journal.commit(change)
        }))
      },
      function* () {
        const payer = yield* companyWith(5000)
        yield* issue(payer, 1000, 60)
        yield* TestClock.adjust(60_000)
        assert.strictEqual(yield* expire, 1)
        assert.strictEqual((yield* has(payer)).held, 1012)
        isAway = false
        yield* TestClock.adjust(10_000)
        assert.strictEqual(yield* expire, 1)
        assert.strictEqual((yield* has(payer)).held, 0)
      }
    )
  })
})
