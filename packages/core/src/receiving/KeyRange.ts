import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Change from "../ledger/Change.ts"
import type { Conflict } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"

/**
 * A range of wallet keys reserved for one process: indexes from `first` up to but not including `next`, in
 * one account and branch (BIP 44). Unused keys are never reassigned, so no index is used twice even after a
 * crash.
 */
export const KeyRange = Schema.Struct({
  id: Noun.Id,
  /** Fingerprint of the wallet's master key. */
  wallet: Schema.String,
  type: AddressType,
  branch: Schema.Literals([0, 1]),
  first: Schema.Int,
  next: Schema.Int
})
export interface KeyRange extends Schema.Schema.Type<typeof KeyRange> {}

export const members = Noun.members("key_ranges", KeyRange, [])

/**
 * Another process has already reserved the range that starts at this index. Read the start of the next range,
 * then retry.
 */
export class KeyRangeTaken extends Schema.TaggedError<KeyRangeTaken>()("KeyRangeTaken", {
  wallet: Schema.String,
  first: Schema.Int
}) {}

export interface KeyRangeReserved extends Change.Parts<"KeyRangeReserved", KeyRangeTaken | Conflict> {
  readonly keyRange: KeyRange
}

/** Reserves a range that starts where the previous range ends. */
export const reserved = (keyRange: KeyRange, atMillis: number): KeyRangeReserved => ({
  _tag: "KeyRangeReserved",
  ...Change.on({ id: keyRange.id, companyId: CompanyId.operator }, atMillis),
  keyRange
})
