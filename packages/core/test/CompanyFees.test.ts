import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import type { CompanyFees } from "../src/accounts/CompanyFees.ts"
import { FeeChanged, Fees } from "../src/accounts/Fees.ts"
import { cacheMillis } from "../src/base/ReadCache.ts"
import { Refunds } from "@satrail/features/refunds/core/Refunds"
import { Transactions } from "../src/reports/Transactions.ts"
import { Vouchers } from "@satrail/features/vouchers/core/Vouchers"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { asked, companyWith, has, made, outside, scenario } from "./World.ts"

const words = { description: "", expirySeconds: 3600, metadata: {} }
const dear: CompanyFees = { lightning: { baseMsat: 7_000, partsPerMillion: 0 } }

const charge = Effect.fnUntraced(function* (company: Company, fees: CompanyFees | null) {
  const charging = yield* Effect.forkChild((yield* Companies).charge(company.id, fees), {
    startImmediately: true
  })
  yield* TestClock.adjust(cacheMillis * 2)
  return yield* Fiber.join(charging)
})

const send = Effect.fnUntraced(function* (company: Pick<Company, "id" | "plan">, maxFee?: Msat.Msat) {
  const { destination } = yield* outside({ type: "lightning_address" })
  return yield* made(
    (yield* Withdrawals).confirm({ company, asked: yield* asked(1000), destination, metadata: {}, maxFee })
  )
})

describe("Custom fees of a company", () => {
  scenario(
    "fees: a company pays its custom rates, and its plan's rates where no custom rate is set",
    function* () {
      const [company, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
      const fees = yield* Fees
      const charged = yield* charge(company, dear)
      const { lightning, onChain } = fees.terms(charged)
      assert.deepStrictEqual(lightning, { base: Msat.fromSats(7), partsPerMillion: 0n })
      assert.deepStrictEqual(onChain, fees.terms(company).onChain)
      assert.strictEqual((yield* send(charged)).serviceFee, Msat.fromSats(7))
      assert.strictEqual(
        (yield* send(other)).serviceFee,
        Msat.fromSats(2),
        "no other company pays the custom rate"
      )
      assert.strictEqual((yield* charge(company, null)).fees, null)
      assert.strictEqual((yield* send(company)).serviceFee, Msat.fromSats(2))
    }
  )

  scenario("fees: a process with a stale copy of a company charges the current rates", function* () {
    const old = yield* companyWith(100_000)
    yield* charge(old, dear)
    const seven = Msat.fromSats(7)
    assert.strictEqual((yield* send(old)).serviceFee, seven)
    assert.strictEqual(
      (yield* send({ id: old.id, plan: old.plan })).serviceFee,
      seven,
      "an application that passes only id and plan"
    )
    const { voucher } = yield* made(
      (yield* Vouchers).create({ company: old, ...(yield* asked(100)), ...words })
    )
    assert.strictEqual(voucher.serviceFee, seven)
    const [deposit] = (yield* (yield* Transactions).list(old.id, { limit: 1, type: "deposit" })).rows
    const of = { depositId: deposit?.id ?? assert.fail("no deposit") }
    const link = yield* made(
      (yield* Refunds).create({
        company: old,
        ...of,
        asked: yield* asked(100),
        destination: undefined,
        ...words
      })
    )
    assert.isNotNull(link.url && Redacted.value(link.url))
    const refund = yield* (yield* Vouchers).get(old.id, link.refund.voucherId ?? assert.fail("no voucher"))
    assert.strictEqual(refund.serviceFee, seven)
  })

  scenario(
    "fees: no more than the estimated fee is charged; if the fee has risen, the withdrawal is refused and nothing is held",
    function* () {
      const company = yield* companyWith(100_000)
      const { destination } = yield* outside({ type: "lightning_address" })
      const { fee } = yield* (yield* Withdrawals).estimate({
        company,
        asked: yield* asked(1000),
        destination
      })
      const shown = Msat.sum(fee.service, fee.network)
      yield* charge(company, dear)
      const refusal = yield* Effect.flip(send(company, shown))
      assert.deepStrictEqual(refusal, new FeeChanged({ fee: Msat.sum(shown, Msat.fromSats(5)) }))
      assert.deepStrictEqual(yield* has(company), { posted: 100_000, held: 0 })
      yield* charge(company, { lightning: { baseMsat: 0, partsPerMillion: 0 } })
      const cheap = yield* send(company, shown)
      assert.strictEqual(cheap.serviceFee, 0n, "if the fee has fallen, the lower fee is charged")
    }
  )
})
