import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Clock, Context, Effect, Layer } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import type { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import * as OnChainAddress from "./OnChainAddress.ts"

/** Gives out on-chain addresses, any number, each to one company and never again. */
export class OnChainAddresses extends Context.Service<
  OnChainAddresses,
  {
    readonly create: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly type: AddressType
      readonly metadata: Metadata.Metadata
      readonly request?: Answer.Request<OnChainAddress.OnChainAddress>
    }) => Effect.Effect<
      Answer.Outcome<OnChainAddress.OnChainAddress>,
      Invalid | ChainUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
  }
>()("@satrail/core/receiving/OnChainAddresses") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const wallet = yield* ChainWallet
  const entropy = yield* Entropy

  return OnChainAddresses.of({
    create: Effect.fnUntraced(function* ({ companyId, type, metadata, request }) {
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* Metadata.check(metadata)
      const { address, scriptPubKey, index } = yield* wallet.newAddress(type)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const onChainAddress: OnChainAddress.OnChainAddress = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId,
        nodeId: wallet.fingerprint,
        address,
        scriptPubKey,
        type,
        index,
        metadata,
        createdAtMillis
      }
      const once = Answer.once(companyId, request, onChainAddress, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(OnChainAddress.created(onChainAddress, once)), onChainAddress)
    })
  })
})

export const layer = Layer.effect(OnChainAddresses, make)
