import { assert, describe, it } from "@effect/vitest"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Failure, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as Examples from "../src/wire/Examples.ts"
import * as Deposits from "../src/resources/Deposits.ts"
import * as Invoices from "../src/resources/Invoices.ts"
import * as Transactions from "../src/resources/Transactions.ts"
import * as Withdrawals from "../src/resources/Withdrawals.ts"

const at = Date.UTC(2026, 0, 31, 12, 0, 0, 7)
const hash = PaymentHash.make("ab".repeat(32))

const world = Examples.worldOf("regtest")
const invoice: Invoice.Shown = { ...Invoices.example(world).open, amount: Msat.make(2_100_999n) }
const withdrawal: Withdrawal = {
  ...Withdrawals.example(world).requested,
  amount: Msat.make(1_000_999n),
  serviceFee: Msat.make(1501n),
  networkAllowance: Msat.make(5000n),
  createdAtMillis: at
}

describe("an invoice", () => {
  it("wire: an invoice is shown as settled only when it is paid, not when it is claimed or expired, and shows no preimage earlier", () => {
    const preimage = Preimage.make("cd".repeat(32))
    const seen = (status: Invoice.Status) => {
      const { settled, r_preimage } = Invoices.view.of({ ...invoice, status, preimage })
      return [settled, r_preimage]
    }
    assert.deepStrictEqual(seen("settled"), [true, preimage])
    for (const status of [
      "pending",
      "claimed",
      "held",
      "settling",
      "expired",
      "canceling",
      "canceled"
    ] as const)
      assert.deepStrictEqual(seen(status), [false, ""])
  })

  it("wire: an invoice's amount is in whole sats, rounded down", () =>
    assert.strictEqual(Invoices.view.of(invoice).amount_sats, 2100))
})

describe("the status of an invoice", () => {
  const ends = invoice.expiresAtMillis
  const seen = (status: Invoice.Status, atMillis: number) => {
    const { status: standing, settled } = Invoices.view.of(Invoice.shown({ ...invoice, status }, atMillis))
    return [standing, settled]
  }

  it("wire: an unpaid invoice is shown as open until its expiry time, and as expired from then on", () => {
    assert.deepStrictEqual(
      [seen("pending", ends - 1), seen("pending", ends)],
      [
        ["open", false],
        ["expired", false]
      ]
    )
    assert.deepStrictEqual(seen("expired", ends - 1), ["expired", false])
  })

  it("wire: an invoice is shown as accepted while a payment is in progress, and stays settled after its expiry time", () => {
    for (const atMillis of [ends - 1, ends]) {
      assert.deepStrictEqual(seen("claimed", atMillis), ["accepted", false])
      assert.deepStrictEqual(seen("settled", atMillis), ["settled", true])
    }
  })

  it("wire: an invoice shows its times of creation, expiry and settlement, the received amount and its deposit's id", () => {
    const paid = {
      ...invoice,
      status: "settled",
      received: Msat.make(2_200_999n),
      settledAtMillis: at
    } as const
    const members = ({
      received_sats,
      created_at,
      expires_at,
      settled_at,
      deposit_id
    }: ReturnType<typeof Invoices.view.of>) => [received_sats, created_at, expires_at, settled_at, deposit_id]
    const times = ["2026-01-31T12:00:00.123Z", "2026-01-31T13:00:00.123Z"]
    assert.deepStrictEqual(members(Invoices.view.of(invoice)), [0, ...times, null, null])
    assert.deepStrictEqual(members(Invoices.view.of(Invoice.shown(paid, ends, "d"))), [
      2200,
      ...times,
      "2026-01-31T12:00:00.007Z",
      "d"
    ])
  })
})

describe("amounts", () => {
  it("wire: a fee is exact to three decimals; amounts and balances are rounded down to whole sats", () => {
    const confirmed = Withdrawals.view.of(withdrawal)
    assert.deepStrictEqual([confirmed.amount_sats, confirmed.fee_sats], [1000, 6.501])
    assert.strictEqual(
      JSON.stringify(
        Withdrawals.view.of({ ...withdrawal, serviceFee: Msat.make(100n), networkAllowance: Msat.make(200n) })
          .fee_sats
      ),
      "0.3"
    )
    const { balanceView } = Transactions
    assert.deepStrictEqual(
      balanceView.of({
        posted: Msat.make(1_000_999n),
        held: Msat.make(300_001n),
        pendingDeposits: Msat.make(21_000n)
      }),
      { balance: 700, held_sats: 300.001, pending_deposits_sats: 21 }
    )
    const all = { balance: 2_100_000_000_000_000, held_sats: 0, pending_deposits_sats: 2_100_000_000_000_000 }
    assert.deepStrictEqual(
      balanceView.of({ posted: Msat.max, held: Msat.zero, pendingDeposits: Msat.max }),
      all
    )
  })

  it("wire: an estimate's fee is the fee that confirm charges", () => {
    const { service_fee_sats, fee_sats } = Withdrawals.estimated.of({
      recipient: "a@b.example",
      recipientType: "lightning_address",
      amount: withdrawal.amount,
      successProbability: 1,
      fee: { service: withdrawal.serviceFee, network: withdrawal.networkAllowance }
    })
    assert.deepStrictEqual([service_fee_sats, fee_sats], [6.501, 6.501])
    assert.strictEqual(fee_sats, Withdrawals.view.of(withdrawal).fee_sats)
  })
})

it("wire: a withdrawal and a deposit show the ids of their company and their ledger transaction in the right fields", () => {
  const ids = { id: "a", companyId: CompanyId.make("b"), ledgerTxId: "c" }
  for (const shown of [
    Withdrawals.view.of({ ...withdrawal, ...ids }),
    Deposits.view.of({ ...Deposits.example(world), ...ids })
  ])
    assert.deepInclude(shown, { id: "a", company_id: "b", ledger_tx_id: "c" })
})

describe("failures and destinations of a withdrawal", () => {
  for (const code of Failure.literals) {
    it(`wire: a withdrawal that failed with ${code} has that code and a message`, () => {
      const { failure } = Withdrawals.view.of({ ...withdrawal, status: "failed", failure: code })
      assert.strictEqual(failure?.code, code)
      assert.match(failure?.message ?? "", /^[A-Z].{20,}[^.]$/)
    })
  }

  it("wire: a withdrawal that did not fail has a null failure", () =>
    assert.isNull(Withdrawals.view.of(withdrawal).failure))

  it("wire: a withdrawal's destination has only the fields of its recipient type", () => {
    const none = {
      lightning_address: null,
      bip353_name: null,
      bitcoin_address: null,
      domain: null,
      payment_hash: null,
      success_action: null
    }
    const lnurl = Lnurl.encode("https://pay.example/lnurlp/7?a=b")
    for (const [recipientType, recipient, expected] of [
      ["lightning_invoice", "lnbcrt1", {}],
      ["lightning_address", "a@b.example", { lightning_address: "a@b.example", domain: "b.example" }],
      [
        "lightning_address",
        "₿a@b.example",
        { lightning_address: "a@b.example", bip353_name: "₿a@b.example", domain: "b.example" }
      ],
      ["lnurl", lnurl, { domain: "pay.example" }],
      ["lnurl", "lnurlp://pay.example/7", { domain: "pay.example" }],
      ["chain_address", "bcrt1q", { bitcoin_address: "bcrt1q" }]
    ] as const) {
      const { destination } = Withdrawals.view.of({ ...withdrawal, recipientType, recipient })
      assert.deepStrictEqual<unknown>(destination, { type: recipientType, ...none, ...expected })
    }
  })

  it("wire: a withdrawal shows the success action once the payment settles, and shows the payment hash as soon as it is known", () => {
    const successAction = { tag: "message", message: "Thank you!" } as const
    const known = { ...withdrawal, paymentHash: hash, successAction }
    const shown = (row: Withdrawal) => {
      const { payment_hash, success_action } = Withdrawals.view.of(row).destination
      return [payment_hash, success_action]
    }
    assert.deepStrictEqual(shown(known), [hash, null])
    assert.deepStrictEqual(shown({ ...known, status: "failed", failure: "no_route" }), [hash, null])
    assert.deepStrictEqual(shown({ ...known, status: "settled" }), [hash, successAction])
  })
})

describe("lightning_payment", () => {
  const payment = (change: Partial<Withdrawal>) =>
    Withdrawals.view.of({ ...withdrawal, ...change }).lightning_payment

  it("wire: lightning_payment is null until the outcome is known, and always null for an on-chain withdrawal", () => {
    for (const change of [
      {},
      { paymentHash: hash, dispatchedAtMillis: at },
      { rail: "on_chain", status: "settled" },
      { rail: "on_chain", status: "failed" }
    ] as const) {
      assert.isNull(payment(change))
    }
  })

  it("wire: lightning_payment has the fields of lnd's payment record, with numbers as text and the charged fee instead of the routing cost", () => {
    assert.deepStrictEqual(
      payment({
        status: "settled",
        paymentHash: hash,
        paymentRequest: "lnbcrt1",
        preimage: Preimage.make("cd".repeat(32)),
        networkFee: Msat.make(1234n),
        paymentIndex: "7",
        dispatchedAtMillis: at + 1500
      }),
      {
        payment_hash: hash,
        payment_preimage: Preimage.make("cd".repeat(32)),
        payment_request: "lnbcrt1",
        status: "SUCCEEDED",
        failure_reason: "FAILURE_REASON_NONE",
        value: "1000",
        value_sat: "1000",
        value_msat: "1000999",
        fee: "6",
        fee_sat: "6",
        fee_msat: "6501",
        creation_date: "1769860801",
        creation_time_ns: "1769860801507000000",
        payment_index: "7",
        htlcs: []
      }
    )
  })

  for (const failure of Failure.literals) {
    it(`wire: lightning_payment has lnd's reason for ${failure}`, () => {
      const failed = payment({ status: "failed", failure })
      assert.deepStrictEqual([failed?.status, failed?.payment_preimage], ["FAILED", ""])
      assert.match(
        failed?.failure_reason ?? "",
        /^FAILURE_REASON_(TIMEOUT|NO_ROUTE|ERROR|INCORRECT_PAYMENT_DETAILS|INSUFFICIENT_BALANCE|CANCELED)$/
      )
    })
  }
})
