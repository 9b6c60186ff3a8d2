import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import { Failure, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as Examples from "../src/Examples.ts"
import * as Deposits from "../src/resources/Deposits.ts"
import * as Invoices from "../src/resources/Invoices.ts"
import * as Transactions from "../src/resources/Transactions.ts"
import * as Withdrawals from "../src/resources/Withdrawals.ts"

const at = Date.UTC(2026, 0, 31, 12, 0, 0, 7)
const hash = PaymentHash.make("ab".repeat(32))

const world = Examples.worldOf("regtest")
const invoice: Invoice = { ...Invoices.example(world).open, amount: Msat.make(2_100_999n) }
const withdrawal: Withdrawal = {
  ...Withdrawals.example(world).requested,
  amount: Msat.make(1_000_999n),
  serviceFee: Msat.make(1501n),
  networkAllowance: Msat.make(5000n),
  createdAtMillis: at
}

describe("an invoice", () => {
  it("wire: an invoice is settled only when it is paid, not claimed or expired, and shows no preimage before", () => {
    const preimage = Preimage.make("cd".repeat(32))
    const seen = (status: Invoice["status"]) => {
      const { settled, r_preimage } = Invoices.view.of({ ...invoice, status, preimage })
      return [settled, r_preimage]
    }
    assert.deepStrictEqual(seen("settled"), [true, preimage])
    for (const status of ["pending", "claimed", "expired"] as const) assert.deepStrictEqual(seen(status), [false, ""])
  })

  it("wire: an invoice's amount is in whole sats, rounded down", () => assert.strictEqual(Invoices.view.of(invoice).amount_sats, 2100))
})

describe("amounts", () => {
  it("wire: a fee has three decimals, exactly; an amount and a balance are rounded down", () => {
    const confirmed = Withdrawals.confirmed.of(withdrawal)
    assert.deepStrictEqual([confirmed.amount_sats, confirmed.fee_sats], [1000, 6.501])
    assert.strictEqual(
      JSON.stringify(Withdrawals.confirmed.of({ ...withdrawal, serviceFee: Msat.make(100n), networkAllowance: Msat.make(200n) }).fee_sats),
      "0.3"
    )
    assert.deepStrictEqual(Transactions.balanceView.of({ posted: Msat.make(1_000_999n), held: Msat.make(300_000n) }), { balance: 700 })
    assert.deepStrictEqual(Transactions.balanceView.of({ posted: Msat.max, held: Msat.zero }), { balance: 2_100_000_000_000_000 })
  })

  it("wire: an estimate's fee is what confirm charges", () => {
    const { service_fee_sats } = Withdrawals.estimated.of({
      recipient: "a@b.example",
      recipientType: "lightning_address",
      amount: withdrawal.amount,
      successProbability: 1,
      fee: { service: withdrawal.serviceFee, network: withdrawal.networkAllowance }
    })
    assert.strictEqual(service_fee_sats, Withdrawals.confirmed.of(withdrawal).fee_sats)
  })

  it("wire: the list has the same fee in thousandths of a sat", () => {
    const { fee_microsats } = Transactions.view.of({
      id: withdrawal.id,
      companyId: withdrawal.companyId,
      amount: withdrawal.amount,
      recipient: "a@b.example",
      rail: "lightning",
      type: "withdrawal",
      fee: Msat.make(6501n),
      status: "pending",
      createdAtMillis: at
    })
    assert.strictEqual(fee_microsats, 6501)
  })
})

describe("a withdrawal", () => {
  it("wire: a withdrawal has the ids of its company and of its transfer, each in its place", () => {
    const { id, company_id, ledger_tx_id } = Withdrawals.view.of({
      ...withdrawal,
      id: "a",
      companyId: CompanyId.make("b"),
      ledgerTxId: "c"
    })
    assert.deepStrictEqual([id, company_id, ledger_tx_id], ["a", "b", "c"])
  })

  it("wire: a deposit has the ids of its company and of its transfer", () => {
    const deposit = Deposits.view.of({
      id: "a",
      companyId: CompanyId.make("b"),
      ledgerTxId: "c",
      recipient: "d",
      amount: Msat.make(1999n),
      network: "signet",
      rail: "on_chain",
      status: "failed",
      chainTxId: TxId.make("e"),
      vout: 1,
      height: null,
      lightningInvoiceId: null,
      absorbed: Msat.zero,
      revision: 3,
      createdAtMillis: at,
      updatedAtMillis: at + 1
    })
    assert.deepStrictEqual(deposit, {
      id: "a",
      company_id: "b",
      ledger_tx_id: "c",
      recipient: "d",
      amount_sats: 1,
      network_type: "signet",
      rail_type: "on_chain",
      status: "failed",
      chain_tx_id: "e",
      lightning_invoice_id: null,
      created_at: "2026-01-31T12:00:00.007Z",
      updated_at: "2026-01-31T12:00:00.008Z"
    })
  })
})

describe("lightning_payment", () => {
  const payment = (change: Partial<Withdrawal>) => Withdrawals.view.of({ ...withdrawal, ...change }).lightning_payment

  it("wire: lightning_payment is null until the outcome is known, and always for an on-chain withdrawal", () => {
    for (const change of [
      {},
      { paymentHash: hash, dispatchedAtMillis: at },
      { rail: "on_chain", status: "settled" },
      { rail: "on_chain", status: "failed" }
    ] as const) {
      assert.isNull(payment(change))
    }
  })

  it("wire: lightning_payment is lnd's record of a payment, numbers as text, with the actual routing fee", () => {
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
        fee: "1",
        fee_sat: "1",
        fee_msat: "1234",
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
