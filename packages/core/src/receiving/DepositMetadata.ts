import { Effect, Option } from "effect"
import * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Invoice } from "./Invoice.ts"
import * as LightningAddress from "./LightningAddress.ts"

/** What a payer paid: an invoice, or an offer of this service. */
export type Source = Pick<Invoice, "companyId" | "metadata" | "lightningAddressId">

/**
 * Reads the metadata of a payment's deposit: the invoice's metadata, or the Lightning address's metadata if a
 * wallet requested the invoice at that address.
 */
export const make = Effect.map(
  NounReads,
  (nouns) =>
    ({
      companyId,
      metadata,
      lightningAddressId
    }: Source): Effect.Effect<Metadata.Metadata, StoreUnavailable> =>
      lightningAddressId === null
        ? Effect.succeed(metadata)
        : Effect.map(nouns.get(LightningAddress.noun, companyId, lightningAddressId), (found) =>
            Option.isSome(found) ? found.value.metadata : Metadata.empty
          )
)
