import { type Paused, Stops } from "../accounts/Stops.ts"
import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Clock, Context, Effect, Layer } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import type { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import * as OnChainAddress from "./OnChainAddress.ts"
import * as Purpose from "./Purpose.ts"

/**
 * Assigns on-chain addresses, without a limit on their number. Each address belongs to one company and is never
 * reassigned.
 */
export class OnChainAddresses extends Context.Service<
  OnChainAddresses,
  {
    readonly create: (
      ask: Partial<Purpose.Purpose> & {
        readonly companyId: CompanyId.CompanyId
        readonly type: AddressType
        readonly metadata: Metadata.Metadata
        readonly request?: Answer.Request<OnChainAddress.OnChainAddress>
      }
    ) => Effect.Effect<
      Answer.Outcome<OnChainAddress.OnChainAddress>,
      Invalid | Paused | ChainUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<OnChainAddress.OnChainAddress, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first. `next` is the start of the following page, or undefined on the last one.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated
    ) => Effect.Effect<Page.Page<OnChainAddress.OnChainAddress>, Invalid | StoreUnavailable>
  }
>()("@satrail/core/receiving/OnChainAddresses") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const wallet = yield* ChainWallet
  const stops = yield* Stops
  const entropy = yield* Entropy
  const nouns = yield* NounReads

  return OnChainAddresses.of({
    get: (companyId, id) => found("on-chain address", id, nouns.get(OnChainAddress.noun, companyId, id)),
    list: (companyId, query) =>
      Page.read(query, (before, limit) => nouns.newestFirst(OnChainAddress.noun, companyId, before, limit)),
    create: Effect.fnUntraced(function* (ask) {
      const { companyId, type, metadata, request } = ask
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("receiving")
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
        ...Purpose.of(ask),
        createdAtMillis
      }
      const once = Answer.once(companyId, request, onChainAddress, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(
        yield* journal.commit(OnChainAddress.created(onChainAddress, once)),
        onChainAddress
      )
    })
  })
})

export const layer = Layer.effect(OnChainAddresses, make)
