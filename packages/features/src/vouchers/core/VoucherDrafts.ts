import { Clock, Effect, Redacted } from "effect"
import { Bounds } from "@satrail/core/accounts/Bounds"
import type { Sender } from "@satrail/core/accounts/Company"
import { Fees } from "@satrail/core/accounts/Fees"
import { Installation } from "@satrail/core/accounts/Installation"
import * as Limits from "@satrail/core/accounts/Limits"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Priced } from "@satrail/core/nodes/Prices"
import type { Words } from "@satrail/core/receiving/Invoices"
import * as SpendingLimits from "@satrail/core/sending/SpendingLimits"
import * as WithdrawalHooks from "@satrail/core/sending/WithdrawalHooks"
import * as Voucher from "./Voucher.ts"
import { checkSendable } from "@satrail/core/sending/WithdrawalDrafts"
import * as Cause from "@satrail/core/sending/Cause"
import * as Rated from "@satrail/core/base/Rated"

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
    priced: { amount, ...rated },
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
      ...Rated.of(rated),
      ...Cause.of(cause),
      createdBy: apiKey?.id ?? null,
      secretHash: SecretHash.of(k1),
      counted: Limit.noted(counts),
      createdAtMillis,
      expiresAtMillis: createdAtMillis + expirySeconds * 1000
    })
    const amountHeld = Voucher.held(voucher)
    yield* SpendingLimits.check(spender, {
      amount: amountHeld,
      recipientType: "lightning_invoice",
      recipient: null,
      network: chain
    })
    yield* mayIssue({ spender, amount: amountHeld })
    return {
      counts,
      feesRevision: company.feesRevision ?? 0,
      voucher,
      url: Redacted.make(Voucher.urlOf(linkHost, k1))
    }
  })
})
