import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import { companyWith, created, found, open } from "@satrail/contracts/Fixtures"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Records } from "@satrail/core/service/Records"
import { Effect, type Layer, Option } from "effect"

/** Edge cases in the exchange between a client and PostgreSQL. */
export const suite = <E>(name: string, layer: Layer.Layer<Journal | Records | Tasks, E>) =>
  it.layer(layer, { excludeTestServices: true })(`edges (${name})`, (it) => {
    it.effect("postgres: the bitcoin supply and one msat less are stored without rounding", () =>
      Effect.gen(function* () {
        const records = yield* Records
        const amount = Msat.make(Msat.max - 1n)
        const row = yield* created(yield* open, 1, {
          amount,
          createdAtMillis: Number.MAX_SAFE_INTEGER,
          expiresAtMillis: -1
        })
        assert.deepStrictEqual(yield* found(records.invoice(row.companyId, row.id)), row)
        const companyId = yield* companyWith(Number(Msat.toSats(Msat.max)))
        assert.deepStrictEqual(yield* records.balance(companyId), { posted: Msat.max, held: Msat.zero })
      })
    )

    it.effect(
      "postgres: text is stored unchanged, including quotes, braces, emoji and characters that JSON escapes",
      () =>
        Effect.gen(function* () {
          const records = yield* Records
          const text = `"'\\{}[],\t\n \u2028 ☕ 🧡 \\u0041 $1 null`
          const row = yield* created(yield* open, 1, {
            memo: text,
            metadata: { [text]: text, "": "", "2": "b", "1": "a" }
          })
          assert.deepStrictEqual(yield* found(records.invoice(row.companyId, row.id)), row)
        })
    )

    it.effect("postgres: a Change that cannot be stored does not make other Changes in its flush fail", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const companyId = yield* open
        const [good, bad] = [yield* created(companyId, 1), yield* created(companyId, 1)]
        const again = (row: Invoice.Invoice, memo: string) =>
          Effect.exit(
            journal.commit(
              Invoice.created({
                ...row,
                id: row.id.replace(/.{8}$/, "00000000"),
                paymentHash: PaymentHash.make(`${row.paymentHash}0`),
                memo
              })
            )
          )
        const exits = yield* Effect.all([again(good, "fine"), again(bad, "\0")], { concurrency: "unbounded" })
        assert.deepStrictEqual(
          exits.map(({ _tag }) => _tag),
          ["Success", "Failure"]
        )
      })
    )

    it.effect("postgres: a malformed key finds nothing", () =>
      Effect.gen(function* () {
        const records = yield* Records
        const [companyId, key] = [yield* open, "no\0key"]
        const answers = yield* Effect.all([
          records.company(CompanyId.make("me")),
          records.invoice(companyId, "1"),
          records.withdrawal(CompanyId.make("' or true --"), companyId),
          records.deposit(companyId, companyId.toUpperCase()),
          records.apiKey(key),
          records.named(LightningAddress.noun, { handle: "\ud800", domain: "pay.example" }),
          records.depositByOutpoint(TxId.make("00"), 2 ** 32),
          records.depositByOutpoint(TxId.make("00"), 0.5)
        ])
        assert.deepStrictEqual(
          answers,
          answers.map(() => Option.none())
        )
        assert.deepStrictEqual(yield* records.balance(CompanyId.make("me")), {
          posted: Msat.zero,
          held: Msat.zero
        })
        assert.deepStrictEqual(yield* records.onChainAddresses([key]), [])
        assert.strictEqual((yield* records.spentCoins([key])).size, 0)
      })
    )
  })
