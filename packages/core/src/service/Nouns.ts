import * as ApiKey from "../accounts/ApiKey.ts"
import * as OperatorRequest from "../accounts/OperatorRequest.ts"
import * as OperatorToken from "../accounts/OperatorToken.ts"
import * as Company from "../accounts/Company.ts"
import * as Domain from "../accounts/Domain.ts"
import type { Feature } from "../ledger/Feature.ts"
import type { Members, Move, Noun } from "../ledger/Noun.ts"
import * as SuspenseAssignment from "../receiving/SuspenseAssignment.ts"
import * as Deposit from "../receiving/Deposit.ts"
import * as Invoice from "../receiving/Invoice.ts"
import * as KeyRange from "../receiving/KeyRange.ts"
import * as LightningAddress from "../receiving/LightningAddress.ts"
import * as OnChainAddress from "../receiving/OnChainAddress.ts"
import { all as features } from "../features/index.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"

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
