import * as Msat from "@satrail/bitcoin/Msat"
import type { Domain } from "../accounts/Domain.ts"
import type { Status } from "../ledger/Rail.ts"
import type * as Deposit from "../receiving/Deposit.ts"
import type { Invoice } from "../receiving/Invoice.ts"
import type { LightningAddress } from "../receiving/LightningAddress.ts"
import type * as Withdrawal from "../sending/Withdrawal.ts"

// Returns records as they were when an event was committed. The records are read later and may be final by
// then, so later changes are undone here. An event about a pending record therefore never reveals its outcome
// or preimage.

export const deposit = (row: Deposit.Deposit, status: Status, atMillis: number): Deposit.Deposit => ({
  ...row,
  status,
  height: status === "settled" ? row.height : null,
  // Nothing had been refunded yet when the deposit settled.
  refunded: status === "settled" ? Msat.zero : row.refunded,
  updatedAtMillis: atMillis
})

/** Returns a withdrawal as it was when a transaction with a higher fee replaced its own: still pending. */
export const replaced = (row: Withdrawal.Withdrawal, atMillis: number): Withdrawal.Withdrawal => ({
  ...row,
  status: "pending",
  preimage: null,
  paymentIndex: null,
  failure: null,
  updatedAtMillis: atMillis
})

/** Returns an invoice as it was before it was paid. */
export const unpaid = (row: Invoice, status: "pending" | "held" | "expired" | "canceled"): Invoice => ({
  ...row,
  status,
  received: null,
  held: status === "pending" ? null : row.held,
  heldUntilMillis: status === "pending" ? null : row.heldUntilMillis,
  preimage: null,
  claimedBy: null,
  settledAtMillis: null,
  canceledAtMillis: status === "canceled" ? row.canceledAtMillis : null
})

export const newAddress = (row: LightningAddress): LightningAddress => ({
  ...row,
  updatedAtMillis: row.createdAtMillis,
  lastUsedAtMillis: null,
  deletedAtMillis: null
})

export const changedAddress = (row: LightningAddress, atMillis: number): LightningAddress => ({
  ...row,
  updatedAtMillis: atMillis,
  deletedAtMillis: null
})

export const verifiedDomain = (row: Domain, atMillis: number): Domain => ({
  ...row,
  checkedAtMillis: atMillis,
  lostAtMillis: null
})

export const lostDomain = (row: Domain, atMillis: number): Domain => ({
  ...row,
  checkedAtMillis: atMillis,
  lostAtMillis: atMillis
})
