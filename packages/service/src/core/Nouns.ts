import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as OperatorRequest from "@satrail/core/accounts/OperatorRequest"
import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import * as Company from "@satrail/core/accounts/Company"
import * as Domain from "@satrail/core/accounts/Domain"
import type { Feature } from "@satrail/core/ledger/Feature"
import type { Members, Move, Noun } from "@satrail/core/ledger/Noun"
import * as SuspenseAssignment from "@satrail/core/receiving/SuspenseAssignment"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { all as features } from "../features/core.ts"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"

/** Returns every record type of the money path and of these features. */
export const of = (features: ReadonlyArray<Feature>): ReadonlyArray<Members | Noun> => [
  Company.members,
  Domain.members,
  ApiKey.noun,
  OperatorToken.noun,
  OperatorRequest.noun,
  Invoice.noun,
  Invoice.unmatchedNoun,
  SuspenseAssignment.noun,
  Deposit.noun,
  LightningAddress.noun,
  OnChainAddress.noun,
  KeyRange.members,
  Withdrawal.noun,
  ...features.flatMap(({ nouns }) => nouns)
]

/**
 * Every record type that this package declares. Stores do not depend on this list, because they also store
 * record types of other packages.
 */
export const all = of(features)

/** Every declared transition of these records. */
export const moves: ReadonlyArray<Move> = [
  ApiKey.life,
  OperatorToken.life,
  OperatorRequest.life,
  Deposit.life,
  Invoice.life,
  LightningAddress.life,
  Withdrawal.life,
  ...features.flatMap(({ lives }) => lives)
].flatMap((life) => Object.values(life))
