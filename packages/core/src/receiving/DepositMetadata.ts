import { Effect, Option } from "effect"
import * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Deposit } from "./Deposit.ts"
import type { Invoice } from "./Invoice.ts"
import * as LightningAddress from "./LightningAddress.ts"

/** What a payer paid: an invoice, or an offer of this service. */
export type Source = Pick<Invoice, "companyId" | "metadata" | "lightningAddressId"> &
  Partial<Pick<Invoice, "splits">>

/**
 * Reads the metadata and the splits of a payment's deposit: those of the invoice, or those of the Lightning address if a
 * wallet requested the invoice at that address.
 */
export const make = Effect.map(
  NounReads,
  (nouns) =>
    ({
      companyId,
      metadata,
      splits = null,
      lightningAddressId
    }: Source): Effect.Effect<Pick<Deposit, "metadata" | "splits">, StoreUnavailable> =>
      lightningAddressId === null
        ? Effect.succeed({ metadata, splits })
        : Effect.map(nouns.get(LightningAddress.noun, companyId, lightningAddressId), (found) =>
            Option.isSome(found)
              ? { metadata: found.value.metadata, splits: found.value.splits }
              : { metadata: Metadata.empty, splits: null }
          )
)
