import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { row as voucher } from "@satrail/contracts/features/vouchers/Fixtures"
import { deposit, invoice, withdrawal } from "@satrail/contracts/Rows"
import { Arbitrary, Schema } from "effect"
import * as Company from "../src/accounts/Company.ts"
import * as Domain from "../src/accounts/Domain.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import type { Change } from "../src/service/Changes.ts"
import * as Answer from "../src/ledger/Answer.ts"
import * as Balance from "../src/ledger/Balance.ts"
import * as Cursor from "../src/ledger/Cursor.ts"
import type { Rail } from "../src/ledger/Rail.ts"
import * as Deposit from "../src/receiving/Deposit.ts"
import * as Invoice from "../src/receiving/Invoice.ts"
import * as LightningAddress from "../src/receiving/LightningAddress.ts"
import * as OnChainAddress from "../src/receiving/OnChainAddress.ts"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as LostPayout from "../src/sending/LostPayout.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { fence, moved, plain } from "./Rows.ts"

const msat = (amount: number | bigint) => Msat.make(BigInt(amount))
const paid = (networkFee: number | bigint): Withdrawal.Settlement => ({
  preimage: null,
  chainTxId: null,
  networkFee: msat(networkFee),
  paymentIndex: null
})
const arrived = (amount: number | bigint) => ({
  ...deposit({ rail: "lightning", status: "settled", amount: msat(amount) }),
  lightningInvoiceId: "i"
})
const within = (row: Withdrawal.Withdrawal) =>
  Withdrawal.transferred(
    row,
    {
      deposit: deposit({ amount: row.amount, rail: "lightning", status: "settled" }),
      invoice: null,
      preimage: null,
      lightningAddressId: null
    },
    fence,
    2
  )

const company: Company.Company = {
  id: CompanyId.make("c"),
  name: "Acme",
  plan: "free",
  createdAtMillis: 1,
  limits: null,
  frozen: null,
  loosening: null,
  fees: null,
  feesRevision: 0
}
const address = { id: "a", companyId: CompanyId.make("c"), metadata: {}, createdAtMillis: 1 }
const settings = { minSendable: null, maxSendable: null, successMessage: null, splits: null, metadata: {} }

describe("Postings of a Change", () => {
  /** Each amount is 1000. Fees, if any, are 5 for the service and 10 for the network. */
  const examples: ReadonlyArray<readonly [string, Change, Record<string, bigint>]> = [
    [
      "C33: InvoiceSettled: the amount received is credited, not the amount requested",
      Invoice.settled(invoice(), arrived(1010), Preimage.make("00")),
      { node: -1010n, available: 1010n }
    ],
    [
      "PaymentUnmatched: the amount is in suspense until an operator reviews the payment",
      Invoice.unmatched({
        id: "u",
        companyId: CompanyId.make("c"),
        paymentHash: PaymentHash.make(""),
        received: msat(1000),
        reason: "",
        createdAtMillis: 1
      }),
      { node: -1000n, suspense: 1000n }
    ],
    [
      "WithdrawalRequested: amount and fees are held",
      Withdrawal.requested(withdrawal()),
      { available: -1015n, held: 1015n }
    ],
    [
      "WithdrawalSettled: the operator keeps the unused allowance",
      Withdrawal.settled(withdrawal(), paid(3), fence, 2),
      { held: -1015n, node: 1003n, service_fees: 5n, network_fees: 7n }
    ],
    [
      "WithdrawalSettled: the allowance is used up exactly",
      Withdrawal.settled(withdrawal(), paid(10), fence, 2),
      { held: -1015n, node: 1010n, service_fees: 5n }
    ],
    [
      "C25: WithdrawalSettled: routing fees above the limit are the operator's loss",
      Withdrawal.settled(withdrawal(), paid(14), fence, 2),
      { held: -1015n, node: 1014n, service_fees: 5n, loss: -4n }
    ],
    [
      "WithdrawalSettled on-chain: the on-chain assets are used",
      Withdrawal.settled(withdrawal({ rail: "on_chain" }), paid(3), fence, 2),
      { held: -1015n, chain: 1003n, service_fees: 5n, network_fees: 7n }
    ],
    [
      "WithdrawalFailed: the full amount is released",
      Withdrawal.failed(withdrawal(), "no_route", fence, 2),
      { held: -1015n, available: 1015n }
    ],
    [
      "PayoutReleased: the full amount is released",
      LostPayout.released(withdrawal({ rail: "on_chain" }), TxId.make("ab"), [], 2),
      { held: -1015n, available: 1015n }
    ],
    [
      "InternalTransferred: both legs are posted, and the node's account does not change",
      within(withdrawal()),
      { held: -1015n, available: 1000n, service_fees: 5n, network_fees: 10n }
    ],
    [
      "VoucherCreated: amount and fees are held",
      Voucher.created(voucher()),
      { available: -1015n, held: 1015n }
    ],
    [
      "VoucherExpired: the full amount is released",
      Voucher.expired(voucher(), fence, 2),
      { held: -1015n, available: 1015n }
    ],
    [
      "VoucherCanceled: the full amount is released",
      Voucher.canceled(voucher(), 2),
      { held: -1015n, available: 1015n }
    ],
    [
      "DepositConfirmed: the amount is credited",
      Deposit.confirmed(deposit(), 2),
      { chain: -1000n, available: 1000n }
    ],
    [
      "DepositConfirmed: the operator's loss is repaid first",
      Deposit.confirmed(deposit({ absorbed: msat(200) }), 2),
      { chain: -1000n, available: 800n, loss: 200n }
    ],
    [
      "DepositReversed: the full amount is debited",
      Deposit.reversed(deposit({ status: "settled" }), Msat.zero, 2),
      { chain: 1000n, available: -1000n }
    ],
    [
      "DepositReversed: the remaining balance is debited, and the rest is the operator's loss",
      Deposit.reversed(deposit({ status: "settled" }), msat(200), 2),
      { chain: 1000n, available: -800n, loss: -200n }
    ],
    [
      "DepositReclaimed: the available balance repays the operator's loss",
      Deposit.reclaimed(deposit({ absorbed: msat(200) }), msat(150), 2),
      { available: -150n, loss: 150n }
    ]
  ]
  for (const [title, change, expected] of examples)
    it(`change: ${title}`, () => assert.deepStrictEqual(moved(change), expected))

  const domain: Domain.Domain = {
    domain: "d.example",
    companyId: CompanyId.make("c"),
    shownBy: "dns",
    verifiedAtMillis: 1,
    checkedAtMillis: 1,
    lostAtMillis: null
  }

  /** Changes that update records but move no money. */
  const still: ReadonlyArray<Change> = [
    Company.opened(company),
    Company.planChanged(CompanyId.make("c"), "paid", 1),
    Domain.verified(domain),
    Voucher.claimed(voucher(), { id: "w", recipient: "lnbcrt1…", network: "regtest" }, 2),
    Domain.checked(domain, false, 2),
    Invoice.created(invoice()),
    Invoice.claimed(invoice(), "w", fence, 1),
    Invoice.expired(invoice(), 1),
    Withdrawal.dispatched(
      withdrawal(),
      { _tag: "Lightning", paymentHash: PaymentHash.make(""), paymentRequest: "", successAction: null },
      fence,
      1
    ),
    Deposit.seen(deposit()),
    Deposit.placed(deposit(), 8, 2),
    Deposit.dropped(deposit(), 2),
    LightningAddress.created({
      ...address,
      ...settings,
      handle: "h",
      domain: "d",
      updatedAtMillis: 1,
      lastUsedAtMillis: null,
      deletedAtMillis: null
    }),
    LightningAddress.changed({ ...address, ...settings }, settings, 1),
    LightningAddress.deleted(address, 1),
    OnChainAddress.created({
      ...address,
      nodeId: "",
      address: "",
      scriptPubKey: "",
      type: "taproot",
      index: 0,
      checkoutId: null,
      splits: null
    }),
    Cursor.moved({ source: "s", value: "1" }, "x", 1),
    Answer.forgotten("x", 1, 1)
  ]
  it("change: a Change has no legs if no money moves", () => {
    for (const change of still)
      assert.deepStrictEqual(
        change.legs.flatMap(({ postings }) => postings),
        [],
        change._tag
      )
  })

  const amount = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_100_000_000 })))
  const fee = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))
  const row = (amount: number, service: number, network: number, rail: Rail = "lightning") =>
    withdrawal({ amount: msat(amount), serviceFee: msat(service), networkAllowance: msat(network), rail })

  it.prop(
    "change: a Change debits one account by the amount that it credits to another, and all amounts are positive",
    { amount, service: fee, network: fee, actual: fee, absorbed: fee },
    ({ amount, service, network, actual, absorbed }) => {
      const borne = msat(Math.min(absorbed, amount))
      const withdrawn = row(amount, service, network)
      const changes: ReadonlyArray<Change> = [
        Invoice.settled(invoice(), arrived(amount), Preimage.make("00")),
        Withdrawal.requested(withdrawn),
        Withdrawal.settled(withdrawn, paid(actual), fence, 2),
        Withdrawal.failed(withdrawn, "timeout", fence, 2),
        within(withdrawn),
        Deposit.confirmed(deposit({ amount: msat(amount), absorbed: borne }), 2),
        Deposit.reversed(deposit({ amount: msat(amount), status: "settled" }), borne, 2)
      ]
      for (const change of changes) {
        assert.strictEqual(
          Object.values(moved(change)).reduce((sum, one) => sum + one, 0n),
          0n,
          change._tag
        )
        assert.strictEqual(
          moved(change).internal,
          undefined,
          `${change._tag} leaves no balance in the account between companies`
        )
        for (const { from, to, amount } of change.legs.flatMap(({ postings }) => postings)) {
          assert.isTrue(amount > 0n && from !== to, change._tag)
        }
      }
    },
    { arbitrary: { seed: 11, runs: 200 } }
  )

  it.prop(
    "change: when a withdrawal is final, nothing is held, and the company has paid either the amount and the fee or nothing",
    { amount, service: fee, network: fee, actual: fee },
    ({ amount, service, network, actual }) => {
      const before: Balance.Balance = { posted: msat(amount + service + network + 7), held: Msat.zero }
      const run = (rail: Rail, end: (row: Withdrawal.Withdrawal) => Change) => {
        const withdrawn = row(amount, service, network, rail)
        const changes = [Withdrawal.requested(withdrawn), end(withdrawn)]
        return changes
          .flatMap(({ legs }) => legs)
          .filter(({ companyId }) => companyId === withdrawn.companyId)
          .reduce((balance, { postings }) => Balance.add(balance, Balance.effect(postings)), before)
      }
      for (const rail of ["lightning", "on_chain"] as const) {
        assert.deepStrictEqual(plain(run(rail, (one) => Withdrawal.settled(one, paid(actual), fence, 2))), {
          posted: 7,
          held: 0
        })
        assert.deepStrictEqual(plain(run(rail, within)), { posted: 7, held: 0 })
        assert.deepStrictEqual(
          run(rail, (one) => Withdrawal.failed(one, "canceled", fence, 2)),
          before
        )
      }
    },
    { arbitrary: { seed: 11, runs: 200 } }
  )

  it.prop(
    "C25: change: the operator keeps the unused part of the fee limit or bears the excess, never both",
    { amount, service: fee, network: fee, actual: fee },
    ({ amount, service, network, actual }) => {
      const sums = moved(Withdrawal.settled(row(amount, service, network), paid(actual), fence, 2))
      assert.strictEqual(sums.node ?? 0n, BigInt(amount + actual))
      assert.strictEqual(sums.network_fees ?? 0n, BigInt(Math.max(0, network - actual)))
      assert.strictEqual(sums.loss ?? 0n, -BigInt(Math.max(0, actual - network)))
      assert.strictEqual(sums.service_fees ?? 0n, BigInt(service))
    },
    { arbitrary: { seed: 11, runs: 200 } }
  )

  it("change: a transfer has legs for both companies, and both records refer to the same transfer", () => {
    const { legs, companyId, transferId, deposit } = within(withdrawal())
    assert.deepStrictEqual(
      [companyId, ...legs.map(({ companyId }) => companyId)],
      ["payer", "payer", "payee"]
    )
    assert.strictEqual(transferId, deposit.ledgerTxId)
  })

  it("change: a Change that is part of a job contains the job's claim", () => {
    const work: ReadonlyArray<Change> = [
      Invoice.claimed(invoice(), "w", fence, 1),
      Withdrawal.settled(withdrawal(), paid(0), fence, 1),
      Withdrawal.failed(withdrawal(), "timeout", fence, 1),
      Withdrawal.dispatched(
        withdrawal(),
        { _tag: "Lightning", paymentHash: PaymentHash.make(""), paymentRequest: "", successAction: null },
        fence,
        1
      ),
      within(withdrawal())
    ]
    for (const change of work) assert.deepStrictEqual(change.fence, fence, change._tag)
  })
})
