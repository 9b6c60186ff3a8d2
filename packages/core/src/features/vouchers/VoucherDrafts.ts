import { Clock, Effect, Redacted } from "effect"
import { Bounds } from "../../accounts/Bounds.ts"
import type { Sender } from "../../accounts/Company.ts"
import { Fees } from "../../accounts/Fees.ts"
import { Installation } from "../../accounts/Installation.ts"
import * as Limits from "../../accounts/Limits.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import type { Invalid } from "../../base/Invalid.ts"
import * as SecretHash from "../../base/SecretHash.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import * as Limit from "../../ledger/Limit.ts"
import type { Priced } from "../../nodes/Prices.ts"
import type { Words } from "../../receiving/Invoices.ts"
import * as SpendingLimits from "../../sending/SpendingLimits.ts"
import * as WithdrawalHooks from "../../sending/WithdrawalHooks.ts"
import * as Voucher from "./Voucher.ts"
import { checkSendable } from "../../sending/WithdrawalDrafts.ts"
import * as Cause from "../../sending/Cause.ts"

/** A voucher with its secret, which is returned once. */
export interface Issued {
  readonly voucher: Voucher.Voucher
  /** The URL that a wallet scans, which contains the secret. */
  readonly url: Redacted.Redacted
}

/** Prepares vouchers and their links for the commit. */
export const make = Effect.gen(function* () {
  const fees = yield* Fees
  const { domain, linkHost = domain, network: chain } = yield* Installation
  const bounds = yield* Bounds
  const entropy = yield* Entropy
  const mayIssue = yield* WithdrawalHooks.issuing

  /** Expects texts that `checkWords` has validated. */
  return Effect.fnUntraced(function* ({
    company,
    apiKey,
    priced: { amount, rate, rateAtMillis },
    words: { description, expirySeconds, metadata },
    ...cause
  }: Limits.Spender &
    Partial<Cause.Cause> & {
      readonly company: Sender
      readonly priced: Priced
      readonly words: Words
    }): Effect.fn.Return<
    Issued & { readonly counts: ReadonlyArray<Limit.Count>; readonly feesRevision: number },
    Invalid | Limit.LimitExceeded | StoreUnavailable
  > {
    yield* checkSendable(amount, bounds)
    // Only the on-chain fee can be unavailable, and a voucher is paid over Lightning.
    const { service, network } = yield* Effect.orDie(fees.quote({ company, way: "lightning", amount }))
    const k1 = Id.toHex(entropy(32))
    const createdAtMillis = yield* Clock.currentTimeMillis
    const spender = { company, apiKey }
    const counts = Limits.countsOf(spender, createdAtMillis)
    const voucher = Voucher.open({
      id: Id.fromMillis(createdAtMillis, entropy),
      companyId: company.id,
      ledgerTxId: Id.fromMillis(createdAtMillis, entropy),
      amount,
      serviceFee: service,
      networkAllowance: network,
      description,
      metadata,
      rate,
      rateAtMillis,
      ...Cause.of(cause),
      createdBy: apiKey?.id ?? null,
      secretHash: SecretHash.of(k1),
      counted: Limit.noted(counts),
      createdAtMillis,
      expiresAtMillis: createdAtMillis + expirySeconds * 1000
    })
    const amountHeld = Voucher.held(voucher)
    yield* SpendingLimits.check(spender, { amount: amountHeld, recipientType: "lightning_invoice", recipient: null, network: chain })
    yield* mayIssue({ spender, amount: amountHeld })
    return { counts, feesRevision: company.feesRevision ?? 0, voucher, url: Redacted.make(Voucher.urlOf(linkHost, k1)) }
  })
})
