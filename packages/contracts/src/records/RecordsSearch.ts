import { assert } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Search from "@satrail/core/reports/Search"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Effect, Result } from "effect"
import type { Promises } from "../Contract.ts"
import {
  companyWith,
  created,
  hex,
  lightningAddress,
  onChain,
  onChainAddress,
  open,
  output,
  payment,
  paymentHash,
  tally,
  txId,
  verdict,
  withdrawal
} from "../Fixtures.ts"

const committed = Effect.fnUntraced(function* (changes: ReadonlyArray<Parameters<typeof verdict>[0]>) {
  const verdicts = yield* Effect.forEach(changes, verdict)
  assert.deepStrictEqual(tally(verdicts), { Applied: changes.length })
})

/** Returns the results of a search as lines of text. */
const found = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId | null, text: string) {
  const sought = Search.sought(text)
  const hits = sought === undefined ? [] : yield* (yield* Records).found(companyId, sought)
  return hits.map(({ kind, id, by }) => `${kind} ${id} ${by}`).toSorted()
})

/** A new on-chain address. */
const address = Effect.map(
  hex(20),
  (program) => Result.getOrThrow(BitcoinAddress.fromScript(`0014${program}`, "regtest")).address
)

/** Texts with characters that SQL, JSON, regular expressions or a collation treat specially. */
const literal = [
  "100% off",
  "%",
  "_",
  "a_b",
  "O'Brien",
  'the "best" tea',
  "back\\slash",
  "'; drop table satrail.invoices; --",
  "$1 ($2)",
  '{"a":[1]}',
  "^.*$",
  "a\tb",
  "Zürich ½ € – ÀÉÎ",
  "日本語",
  "👩‍👩‍👧 e\u0301",
  "9007199254740993",
  "99999999999999999999",
  "-1",
  "x".repeat(Search.limits.characters)
]

/** Guarantees about the search of a company's records, and about its turnover over time. */
export const other = {
  "a search finds a payment by a metadata value, its description, its amount, its hash or the beginning of its id":
    Effect.gen(function* () {
      const companyId = yield* open
      const invoice = yield* created(companyId, 68_219, {
        memo: "Two bags of Coffee",
        metadata: { order: "A-1042", channel: "web" }
      })
      const paid = yield* payment(invoice, 68_219)
      yield* committed([paid])
      const deposit = paid.writes[1].record
      const both = [`deposits ${deposit.id} text`, `invoices ${invoice.id} text`]
      const ofDeposit = yield* found(companyId, "a-1042")
      assert.includeMembers(both, ofDeposit)
      assert.include(ofDeposit, `invoices ${invoice.id} text`)
      assert.deepStrictEqual(yield* found(companyId, "bags of coffee"), [`invoices ${invoice.id} text`])
      assert.deepStrictEqual(yield* found(companyId, "68,219 sats"), [`deposits ${deposit.id} amount`])
      assert.deepStrictEqual(yield* found(companyId, invoice.paymentHash.toUpperCase()), [
        `invoices ${invoice.id} hash`
      ])
      assert.include(yield* found(companyId, deposit.id.slice(0, -4)), `deposits ${deposit.id} id`)
      assert.deepStrictEqual(yield* found(companyId, "a-104"), [])
      assert.deepStrictEqual(yield* found(companyId, "tea"), [])
    }),

  "a search finds a withdrawal by its metadata or its amount": Effect.gen(function* () {
    const companyId = yield* companyWith(5000)
    const asked = yield* withdrawal(companyId, 777, { metadata: { reference: "INV-2291" } })
    yield* committed([Withdrawal.requested(asked)])
    assert.deepStrictEqual(yield* found(companyId, "inv-2291"), [`withdrawals ${asked.id} text`])
    assert.deepStrictEqual(yield* found(companyId, "777"), [`withdrawals ${asked.id} amount`])
  }),

  "a search finds an invoice and a withdrawal by the preimage of their payment": Effect.gen(function* () {
    const companyId = yield* companyWith(5000)
    const [proof, other, third] = [
      Preimage.make(yield* hex(32)),
      Preimage.make(yield* hex(32)),
      Preimage.make(yield* hex(32))
    ]
    const row = yield* created(companyId, 300, { paymentHash: Preimage.hashOf(proof) })
    const paid = yield* withdrawal(companyId, 700, { paymentHash: Preimage.hashOf(other) })
    const offered = yield* withdrawal(companyId, 800, { reportedHash: Preimage.hashOf(third) })
    yield* committed([Withdrawal.requested(paid), Withdrawal.requested(offered)])
    assert.deepStrictEqual(yield* found(companyId, third), [`withdrawals ${offered.id} hash`])
    assert.deepStrictEqual(yield* found(companyId, proof.toUpperCase()), [`invoices ${row.id} hash`])
    assert.deepStrictEqual(yield* found(companyId, other), [`withdrawals ${paid.id} hash`])
    assert.deepStrictEqual(yield* found(yield* open, other), [])
  }),

  "a search finds a payment by its transaction, and a withdrawal by its payment hash": Effect.gen(
    function* () {
      const companyId = yield* companyWith(5000)
      const [seen, chainTxId, hash] = [yield* output(companyId, 500), yield* txId, yield* paymentHash]
      const sent = yield* withdrawal(companyId, 600, { ...onChain, chainTxId })
      const paid = yield* withdrawal(companyId, 700, { paymentHash: hash })
      yield* committed([Deposit.seen(seen), Withdrawal.requested(sent), Withdrawal.requested(paid)])
      assert.deepStrictEqual(yield* found(companyId, seen.chainTxId ?? ""), [
        `deposits ${seen.id} transaction`
      ])
      assert.deepStrictEqual(yield* found(companyId, chainTxId), [`withdrawals ${sent.id} transaction`])
      assert.deepStrictEqual(yield* found(companyId, hash), [`withdrawals ${paid.id} hash`])
    }
  ),

  "a search finds a payment by the beginning of its hash or transaction, and by its transfer": Effect.gen(
    function* () {
      const companyId = yield* companyWith(5000)
      const [seen, hash] = [yield* output(companyId, 500), yield* paymentHash]
      const paid = yield* withdrawal(companyId, 700, { paymentHash: hash })
      const invoice = yield* created(companyId, 300)
      yield* committed([Deposit.seen(seen), Withdrawal.requested(paid)])
      for (const [text, hit] of [
        [seen.chainTxId?.slice(0, 12), `deposits ${seen.id} transaction`],
        [`${seen.chainTxId?.slice(0, 12)}…${seen.chainTxId?.slice(-6)}`, `deposits ${seen.id} transaction`],
        [hash.slice(0, 12).toUpperCase(), `withdrawals ${paid.id} hash`],
        [invoice.paymentHash.slice(0, 12), `invoices ${invoice.id} hash`],
        [seen.ledgerTxId, `deposits ${seen.id} id`],
        [paid.ledgerTxId, `withdrawals ${paid.id} id`]
      ])
        assert.deepStrictEqual(yield* found(companyId, text ?? ""), [hit], text)
    }
  ),

  "a search finds records worth an amount of fiat at their rate, in that currency": Effect.gen(function* () {
    const companyId = yield* open
    const rated = { rate: "62300", fiatCurrency: "eur", rateAtMillis: 1, rateSource: "test" }
    const { id } = yield* created(companyId, 20_065, { ...rated, memo: "" })
    for (const text of ["12.50 EUR", "€12.50", "12,50 €", "12.5"])
      assert.deepStrictEqual(yield* found(companyId, text), [`invoices ${id} value`], text)
    for (const text of ["12.50 USD", "$12.50", "12.52 EUR"])
      assert.deepStrictEqual(yield* found(companyId, text), [], text)
  }),

  "a search of all companies finds what identifies a payment, but not amounts or descriptions": Effect.gen(
    function* () {
      const companies = [yield* companyWith(5000), yield* companyWith(5000)]
      const label = `order ${yield* hex(8)}`
      for (const companyId of companies) {
        const invoice = yield* created(companyId, 4000, { memo: `For ${label}`, metadata: { label } })
        const own = (yield* address).toLowerCase()
        const row = { ...(yield* onChainAddress(companyId)), address: own }
        const seen = yield* output(companyId, 500, { recipient: own })
        yield* committed([OnChainAddress.created(row), Deposit.seen(seen)])
        for (const [text, hits] of [
          [invoice.id, [`invoices ${invoice.id} id`]],
          [invoice.paymentHash, [`invoices ${invoice.id} hash`]],
          [seen.chainTxId, [`deposits ${seen.id} transaction`]],
          [own, [`deposits ${seen.id} recipient`, `on_chain_addresses ${row.id} recipient`]]
        ] satisfies ReadonlyArray<[string | null, Array<string>]>)
          assert.deepStrictEqual(yield* found(null, text ?? ""), hits, text ?? "")
      }
      const sought = Search.sought(label)
      const hits = sought === undefined ? [] : yield* (yield* Records).found(null, sought)
      assert.sameMembers(
        hits.map(({ companyId, by }) => `${companyId} ${by}`),
        companies.map((companyId) => `${companyId} text`)
      )
      assert.deepStrictEqual(yield* found(null, `For ${label}`), [])
    }
  ),

  "a search finds an on-chain address, the payments to it and the withdrawals to it": Effect.gen(
    function* () {
      const companyId = yield* companyWith(5000)
      const [own, theirs] = [yield* address, yield* address]
      const row = { ...(yield* onChainAddress(companyId)), address: own }
      const seen = yield* output(companyId, 500, { recipient: own })
      const sent = yield* withdrawal(companyId, 600, { ...onChain, recipient: theirs })
      yield* committed([OnChainAddress.created(row), Deposit.seen(seen), Withdrawal.requested(sent)])
      for (const text of [
        own,
        own.toUpperCase(),
        `bitcoin:${own}?amount=0.1`,
        `https://explorer.example/address/${own}`
      ])
        assert.deepStrictEqual(
          yield* found(companyId, text),
          [`deposits ${seen.id} recipient`, `on_chain_addresses ${row.id} recipient`],
          text
        )
      assert.deepStrictEqual(yield* found(companyId, theirs), [`withdrawals ${sent.id} recipient`])
      for (const text of [own, theirs]) assert.deepStrictEqual(yield* found(yield* open, text), [])
    }
  ),

  "a search finds a Lightning address and the withdrawals to one, also by its LNURL": Effect.gen(
    function* () {
      const companyId = yield* companyWith(5000)
      const row = yield* lightningAddress(companyId)
      const text = LightningAddress.text(row)
      const named = yield* withdrawal(companyId, 600, { recipientType: "lightning_address", recipient: text })
      const lnurl = Lnurl.encode(LightningAddressText.urlOf(row))
      const coded = yield* withdrawal(companyId, 700, { recipientType: "lnurl", recipient: lnurl })
      yield* committed([
        LightningAddress.created(row),
        Withdrawal.requested(named),
        Withdrawal.requested(coded)
      ])
      const both = [`lightning_addresses ${row.id} recipient`, `withdrawals ${named.id} recipient`]
      assert.deepStrictEqual(yield* found(companyId, text.toUpperCase()), both)
      assert.deepStrictEqual(
        yield* found(companyId, `lightning:${lnurl}`),
        [...both, `withdrawals ${coded.id} recipient`].toSorted()
      )
      for (const sought of [text, lnurl]) assert.deepStrictEqual(yield* found(yield* open, sought), [])
    }
  ),

  "a search takes every character literally, in descriptions and in metadata": Effect.gen(function* () {
    const companyId = yield* open
    const texts = new Map<string, ReadonlyArray<string>>()
    for (const text of literal) {
      const described = yield* created(companyId, 1, { memo: `For ${text}, paid`, metadata: {} })
      const labeled = yield* created(companyId, 1, { memo: "", metadata: { "it's": text } })
      texts.set(described.id, [`for ${text}, paid`]).set(labeled.id, ["", text])
    }
    for (const text of literal) {
      const expected = [...texts].filter(([, [memo = "", label]]) => label === text || memo.includes(text))
      assert.isAtLeast(expected.length, 2)
      assert.deepStrictEqual(
        yield* found(companyId, text),
        expected.map(([id]) => `invoices ${id} text`).toSorted(),
        text
      )
    }
  }),

  "a search lists a record that matches in several ways only once, under its first match": Effect.gen(
    function* () {
      const companyId = yield* companyWith(5000)
      const asked = yield* withdrawal(companyId, 777, { metadata: { reference: "777", again: "777" } })
      yield* committed([Withdrawal.requested(asked)])
      assert.deepStrictEqual(yield* found(companyId, "777"), [`withdrawals ${asked.id} text`])
    }
  ),

  "a search for one character finds descriptions and metadata, not ids": Effect.gen(function* () {
    const companyId = yield* open
    const [one, two] = [
      yield* created(companyId, 1, { memo: "Cocoa", metadata: {} }),
      yield* created(companyId, 1, { metadata: { size: "0" }, memo: "" })
    ]
    assert.deepStrictEqual(yield* found(companyId, "O"), [`invoices ${one.id} text`])
    assert.deepStrictEqual(yield* found(companyId, "0"), [`invoices ${two.id} text`])
  }),

  "a search returns the newest matches of each kind, up to a limit": Effect.gen(function* () {
    const companyId = yield* open
    const { each } = Search.limits
    const [invoices, deposits]: readonly [Array<string>, Array<string>] = [[], []]
    for (let number = 0; number < each + 3; number++) {
      const invoice = yield* created(companyId, 4000, {
        memo: "Bulk order",
        metadata: { order: "bulk order" }
      })
      const paid = yield* payment(invoice, 4000)
      yield* committed([paid])
      invoices.push(invoice.id)
      deposits.push(`deposits ${paid.writes[1].record.id} amount`)
    }
    const ofInvoices = (yield* found(companyId, "bulk order")).filter((hit) => hit.startsWith("invoice"))
    assert.deepStrictEqual(
      ofInvoices,
      invoices
        .toSorted()
        .slice(-each)
        .map((id) => `invoices ${id} text`)
    )
    const byAmount = yield* found(companyId, "4000")
    assert.lengthOf(byAmount, each)
    assert.includeMembers(deposits, byAmount)
  }),

  "a search finds only the company's own records": Effect.gen(function* () {
    const [companyId, other] = [yield* open, yield* open]
    const invoice = yield* created(companyId, 4321, { memo: "Tea", metadata: { order: "77" } })
    yield* committed([yield* payment(invoice, 4321)])
    for (const text of ["77", "tea", "4321", invoice.paymentHash, invoice.id]) {
      assert.isNotEmpty(yield* found(companyId, text), text)
      assert.deepStrictEqual(yield* found(other, text), [], text)
    }
  }),

  "a transfer's postings are returned in order, to its company only": Effect.gen(function* () {
    const companyId = yield* open
    const paid = yield* payment(yield* created(companyId, 500), 500)
    yield* committed([paid])
    const records = yield* Records
    const { ledgerTxId } = paid.writes[1].record
    const postings = yield* records.postingsOf(companyId, ledgerTxId)
    assert.strictEqual(Balance.effect(postings).posted, Msat.fromSats(500))
    assert.deepStrictEqual(yield* records.postingsOf(yield* open, ledgerTxId), [])
  }),

  "postings are summed by interval, excluding those before the first interval": Effect.gen(function* () {
    const companyId = yield* open
    const paid = yield* payment(yield* created(companyId, 500), 500)
    yield* committed([paid])
    const records = yield* Records
    const { createdAtMillis } = paid.writes[1].record
    const sums = yield* records.turnedSince(companyId, [
      createdAtMillis - 1000,
      createdAtMillis,
      createdAtMillis + 1000
    ])
    assert.deepStrictEqual([...new Set(sums.map(({ step }) => step))], [1])
    assert.strictEqual(Balance.effect(sums).posted, Msat.fromSats(500))
    assert.deepStrictEqual(yield* records.turnedSince(companyId, [createdAtMillis + 1000]), [])
  })
} satisfies Promises<Journal | Records | Tasks>
