import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import type { Company } from "../src/accounts/Company.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { OnChainAddresses } from "../src/receiving/OnChainAddresses.ts"
import { Transactions } from "../src/reports/Transactions.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  everywhere,
  follow,
  made,
  mine,
  poll,
  scenario,
  step
} from "./World.ts"

const invoice = Effect.fnUntraced(function* ({ id }: Company, order: string) {
  const amount = yield* asked(1000)
  return yield* made(
    (yield* Invoices).create({
      companyId: id,
      ...amount,
      description: "",
      expirySeconds: 3600,
      metadata: { order }
    })
  )
})

/** Creates the invoice that a wallet receives at a Lightning address. */
const invoiceAt = Effect.fnUntraced(function* ({ id }: Company, lightningAddressId: string) {
  return yield* made(
    (yield* Invoices).issue({
      companyId: id,
      amount: Msat.fromSats(1000),
      minAmount: null,
      maxAmount: null,
      memo: "",
      description: { _tag: "Text", text: "" },
      expirySeconds: 3600,
      metadata: {},
      lightningAddressId,
      checkoutId: null,
      splits: null,
      apiKeyId: null,
      callback: null,
      rate: null,
      rateAtMillis: null,
      fiatCurrency: null,
      rateSource: null
    })
  )
})

const pay = Effect.fnUntraced(function* ({ paymentRequest }: { readonly paymentRequest: string }) {
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  yield* poll
})

/**
 * Pays the company in every way, externally and internally. Returns the `order` of each deposit's metadata,
 * oldest first.
 */
const story = Effect.gen(function* () {
  const [payer, payee] = [yield* companyWith(100_000), yield* company()]
  const [chain, shop] = [
    yield* made(
      (yield* OnChainAddresses).create({ companyId: payee.id, type: "segwit", metadata: { order: "chain" } })
    ),
    yield* made(
      (yield* LightningAddresses).create({
        company: payee,
        handle: "shop",
        domain: null,
        metadata: { order: "shop" }
      })
    )
  ]
  yield* pay(yield* invoice(payee, "outside"))
  yield* pay(yield* invoiceAt(payee, shop.id))
  yield* (yield* Sandbox.Sandbox).send({ address: chain.address, amount: Msat.fromSats(5000) })
  yield* mine(6)
  yield* follow
  for (const [destination, sats] of [
    [(yield* invoice(payee, "inside")).paymentRequest],
    ["shop+tag@pay.example", 1000],
    [chain.address, 1000]
  ] as const) {
    yield* confirm(payer, destination, sats)
    yield* step
  }
  const transactions = yield* Transactions
  const { rows: listed } = yield* transactions.list(payee.id, { limit: 100 })
  const deposits = yield* Effect.forEach(listed, ({ id }) => transactions.deposit(payee.id, id))
  return deposits.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ metadata }) => metadata["order"])
})

const orders = ["outside", "shop", "chain", "inside", "shop", "chain"]

describe("Metadata of deposits", () => {
  scenario(
    "deposit: a deposit has the metadata of the paid invoice or address, for every way to pay",
    function* () {
      assert.sameMembers(yield* story, orders)
    }
  )

  scenario(
    "deposit: a deposit keeps the metadata that its Lightning address had at the time of payment",
    function* () {
      const payee = yield* company()
      const { create, change } = yield* LightningAddresses
      const { id } = yield* made(
        create({ company: payee, handle: "shop", domain: null, metadata: { order: "old" } })
      )
      yield* pay(yield* invoiceAt(payee, id))
      yield* everywhere(
        change(payee.id, id, {
          minSendable: null,
          maxSendable: null,
          successMessage: null,
          splits: null,
          metadata: { order: "new" }
        })
      )
      const { list, deposit } = yield* Transactions
      const { rows: transactions } = yield* list(payee.id, { limit: 2 })
      const rows = yield* Effect.forEach(transactions, (row) => deposit(payee.id, row.id))
      assert.deepStrictEqual(
        rows.map(({ metadata }) => metadata),
        [{ order: "old" }]
      )
    }
  )

  scenario("invoice: a paid invoice contains its deposit's id", function* () {
    const payee = yield* company()
    const { get } = yield* Invoices
    const row = yield* invoice(payee, "1")
    assert.deepStrictEqual(yield* get(payee.id, row.id), { ...row, standing: "open", depositId: null })
    yield* pay(row)
    const [deposit] = (yield* (yield* Transactions).list(payee.id, { limit: 2 })).rows
    const { standing, depositId } = yield* get(payee.id, row.id)
    assert.deepStrictEqual([standing, depositId], ["settled", deposit?.id])
  })
})
