import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import { Effect, Option, Result } from "effect"
import * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Deposit } from "./Deposit.ts"
import type { Invoice } from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** What a payer paid: an invoice, or an offer of this service. */
export type Source = Pick<Invoice, "companyId" | "metadata" | "lightningAddressId">

type Found = Effect.Effect<Metadata.Metadata, StoreUnavailable>

const metadataOf: (found: Option.Option<{ readonly metadata: Metadata.Metadata }>) => Metadata.Metadata = Option.match({
  onNone: () => Metadata.empty,
  onSome: ({ metadata }) => metadata
})

/** Reads a deposit's metadata from the paid invoice, Lightning address or on-chain address. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads

  /**
   * Returns the invoice's metadata, or the Lightning address's metadata if a wallet requested the invoice at
   * that address.
   */
  const ofInvoice = ({ companyId, metadata, lightningAddressId }: Source): Found =>
    lightningAddressId === null
      ? Effect.succeed(metadata)
      : Effect.map(receiving.lightningAddressById(companyId, lightningAddressId), metadataOf)

  /** Reads the metadata of a deposit that an earlier version stored without it. */
  const ofDeposit = ({ companyId, lightningInvoiceId, recipient, network }: Deposit): Found => {
    if (lightningInvoiceId !== null)
      return Effect.flatMap(
        receiving.invoice(companyId, lightningInvoiceId),
        Option.match({ onNone: () => Effect.succeed(Metadata.empty), onSome: ofInvoice })
      )
    const address = BitcoinAddress.decode(recipient, network)
    if (Result.isSuccess(address))
      return Effect.map(receiving.onChainAddresses([address.success.scriptPubKey]), ([found]) => found?.metadata ?? Metadata.empty)
    const text = LightningAddressText.parse(recipient)
    if (Result.isFailure(text)) return Effect.succeed(Metadata.empty)
    return Effect.map(receiving.lightningAddress(text.success.handle.replace(/\+.*$/, ""), text.success.domain), metadataOf)
  }

  return { ofInvoice, ofDeposit }
})
