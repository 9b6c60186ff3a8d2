import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import { Stops, waitMillis } from "../src/accounts/Stops.ts"
import { cacheMillis } from "../src/base/ReadCache.ts"
import { Transactions } from "../src/reports/Transactions.ts"
import { Refunds } from "@satrail/features/refunds/core/Refunds"
import { Vouchers } from "@satrail/features/vouchers/core/Vouchers"
import {
  asked,
  companyWith,
  confirm,
  everywhere,
  has,
  invoice,
  made,
  onChainAddress,
  outside,
  type Ports,
  said,
  scenario,
  standing,
  start,
  step
} from "./World.ts"

const words = { description: "", expirySeconds: 3600, metadata: {} }

const voucher = Effect.fnUntraced(function* (company: Company) {
  return yield* made((yield* Vouchers).create({ company, ...(yield* asked(100)), ...words }))
})

/** Returns an effect for every way to send money to a payee who accepts it. Each effect returns its outcome. */
const ways = Effect.fnUntraced(function* (company: Company) {
  const { url } = yield* voucher(company)
  const k1 = new URL(Redacted.value(url)).searchParams.get("k1") ?? assert.fail("no secret in the link")
  const [deposit] = (yield* (yield* Transactions).list(company.id, { limit: 1 })).rows
  const depositId = deposit?.id ?? assert.fail("no deposit")
  const refund = Effect.fnUntraced(function* (destination: string | undefined) {
    return yield* (yield* Refunds).create({
      company,
      depositId,
      asked: yield* asked(100),
      destination,
      ...words
    })
  })
  const there = (yield* outside({ type: "lightning_address" })).destination
  return {
    withdrawal: said(confirm(company, there, 100)),
    voucher: said(voucher(company)),
    refund: said(refund(there)),
    "refund by a link": said(refund(undefined)),
    claim: said(
      Effect.flatMap(outside({ sats: 100 }), ({ destination }) =>
        Effect.flatMap(Vouchers, (vouchers) => vouchers.claim({ k1, pr: destination, caller: "wallet" }))
      )
    )
  }
})

const sayings = Effect.fnUntraced(function* (company: Company) {
  return yield* Effect.all(Object.values(yield* ways(company)))
})

const pausing = (what: "sending" | "receiving") => Effect.flatMap(Stops, ({ pause }) => pause(what))
const resuming = (what: "sending" | "receiving") => Effect.flatMap(Stops, ({ resume }) => resume(what))
const freezing = ({ id }: Company, pending: "wait" | "go_on") =>
  Effect.flatMap(Companies, ({ freeze }) => freeze(id, { reason: "a drill", pending }))

describe("Stops by the operator", () => {
  scenario(
    "pause: once a request to pause returns, no process accepts or begins a payment; confirmed withdrawals are sent when the pause ends",
    function* () {
      const payer = yield* companyWith(10_000)
      const ports = yield* Effect.context<Ports>()
      const other = Context.merge(ports, yield* start(ports))
      const confirmed = yield* confirm(payer, (yield* outside({ sats: 100 })).destination)
      const check = Effect.flatMap(Stops, (stops) => stops.check("sending"))
      // The other process caches that nothing is paused.
      yield* Effect.provideContext(check, other)
      const answer = yield* Effect.forkChild(pausing("sending"), { startImmediately: true })
      yield* TestClock.adjust(cacheMillis - 1)
      assert.strictEqual(yield* said(Effect.provideContext(check, other)), "ok")
      assert.isUndefined(answer.pollUnsafe(), "the request returned before the other process had applied it")
      yield* TestClock.adjust(100)
      yield* Fiber.join(answer)
      assert.strictEqual(yield* said(Effect.provideContext(check, other)), "Paused")
      assert.strictEqual(yield* said(check), "Paused")
      for (let i = 0; i < 5; i++) {
        yield* step
        yield* Effect.provideContext(step, other)
        yield* TestClock.adjust(waitMillis)
      }
      assert.strictEqual(yield* standing(confirmed), "pending")
      yield* everywhere(resuming("sending"))
      yield* TestClock.adjust(waitMillis)
      yield* step
      assert.strictEqual(yield* standing(confirmed), "settled")
    }
  )

  scenario(
    "pause: while sending is paused, every way to send money is refused and nothing is held",
    function* () {
      const payer = yield* companyWith(10_000)
      const all = Object.entries(yield* ways(payer))
      const before = yield* has(payer)
      yield* everywhere(pausing("sending"))
      for (const [way, ask] of all) {
        assert.strictEqual(yield* ask, way === "claim" ? "VoucherRefused: stopped" : "Paused", way)
      }
      assert.deepStrictEqual(yield* has(payer), before)
      yield* invoice(payer, 100)
      yield* everywhere(resuming("sending"))
      for (const [way, ask] of all) assert.strictEqual(yield* ask, "ok", way)
      yield* step
      yield* step
    }
  )

  scenario(
    "pause: while receiving is paused, requests for invoices and addresses are refused; incoming payments are credited and sending continues",
    function* () {
      const payer = yield* companyWith(10_000)
      yield* everywhere(pausing("receiving"))
      assert.strictEqual(yield* said(invoice(payer, 100)), "Paused")
      assert.strictEqual(yield* said(onChainAddress(payer)), "Paused")
      assert.deepStrictEqual(yield* sayings(payer), ["ok", "ok", "ok", "ok", "ok"])
      yield* step
      yield* step
      yield* everywhere(resuming("receiving"))
      assert.strictEqual(yield* said(invoice(payer, 100)), "ok")
    }
  )

  scenario(
    "freeze: a frozen company cannot send money in any way, and nothing is held; another company is not affected",
    function* () {
      const [payer, other] = [yield* companyWith(10_000), yield* companyWith(10_000)]
      const all = Object.entries(yield* ways(payer))
      const before = yield* has(payer)
      yield* everywhere(freezing(payer, "go_on"))
      for (const [way, ask] of all) {
        assert.strictEqual(yield* ask, way === "claim" ? "VoucherRefused: stopped" : "CompanyFrozen", way)
      }
      assert.deepStrictEqual(yield* has(payer), before)
      assert.deepStrictEqual(yield* sayings(other), ["ok", "ok", "ok", "ok", "ok"])
      yield* everywhere(Effect.flatMap(Companies, ({ unfreeze }) => unfreeze(payer.id)))
      for (const [way, ask] of all) assert.strictEqual(yield* ask, "ok", way)
      yield* step
      yield* step
    }
  )

  scenario(
    "freeze: confirmed withdrawals wait or continue, as the operator chooses when freezing the company or later",
    function* () {
      const [payer, payee] = [yield* companyWith(10_000), yield* companyWith(10_000)]
      const all = [
        yield* confirm(payer, (yield* outside({ sats: 100 })).destination),
        yield* confirm(payer, (yield* invoice(payee, 100)).paymentRequest)
      ]
      const standings = Effect.forEach(all, standing)
      yield* everywhere(freezing(payer, "wait"))
      yield* step
      assert.deepStrictEqual(yield* standings, ["pending", "pending"])
      const since = (yield* (yield* Companies).get(payer.id)).frozen?.sinceMillis
      yield* everywhere(freezing(payer, "go_on"))
      assert.deepStrictEqual((yield* (yield* Companies).get(payer.id)).frozen, {
        reason: "a drill",
        pending: "go_on",
        sinceMillis: since
      })
      yield* TestClock.adjust(waitMillis)
      yield* step
      assert.deepStrictEqual(yield* standings, ["settled", "settled"])
    }
  )
})
