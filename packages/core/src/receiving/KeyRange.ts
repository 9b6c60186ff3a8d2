import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "../ledger/Change.ts"
import type { Conflict } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"

/**
 * Keys of a wallet that one process may give out, and no other ever: from `first` to before `next`, of one account and branch (BIP 44).
 * Unused keys of it stay unused, so that no index is used twice, wherever a process crashes.
 */
export const KeyRange = Schema.Struct({
  id: Noun.Id,
  /** The fingerprint of the wallet's master key. */
  wallet: Schema.String,
  type: AddressType,
  branch: Schema.Literals([0, 1]),
  first: Schema.Int,
  next: Schema.Int
})
export interface KeyRange extends Schema.Schema.Type<typeof KeyRange> {}

export const members = Noun.members("key_ranges", KeyRange, [])

/** Another process has reserved from there on. Look where the next one begins, and try again. */
export class KeyRangeTaken extends Schema.TaggedError<KeyRangeTaken>()("KeyRangeTaken", { wallet: Schema.String, first: Schema.Int }) {}

export interface KeyRangeReserved extends Change.Parts<"KeyRangeReserved", KeyRangeTaken | Conflict> {
  readonly keyRange: KeyRange
}

/** Reserves a range that begins where the last one ended. */
export const reserved = (keyRange: KeyRange, atMillis: number): KeyRangeReserved => ({
  _tag: "KeyRangeReserved",
  id: keyRange.id,
  companyId: CompanyId.operator,
  atMillis,
  legs: [],
  keyRange
})
