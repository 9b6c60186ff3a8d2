import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import { Effect, Option, Result } from "effect"
import * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Deposit } from "./Deposit.ts"
import type { Invoice } from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

type Found = Effect.Effect<Metadata.Metadata, StoreUnavailable>

const metadataOf: (found: Option.Option<{ readonly metadata: Metadata.Metadata }>) => Metadata.Metadata = Option.match({
  onNone: () => Metadata.empty,
  onSome: ({ metadata }) => metadata
})

/** The metadata of what was paid. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads

  /** An invoice's own, or that of the Lightning address for which a wallet requested it. */
  const ofInvoice = ({ companyId, metadata, lightningAddressId }: Pick<Invoice, "companyId" | "metadata" | "lightningAddressId">): Found =>
    lightningAddressId === null
      ? Effect.succeed(metadata)
      : Effect.map(receiving.lightningAddressById(companyId, lightningAddressId), metadataOf)

  /** The same for a deposit that an earlier version wrote, or writes while this one takes its place. */
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
