import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result } from "effect"
import { DestinationInvalid, refuse } from "./DestinationInvalid.ts"

/**
 * Returns the amount in the parameters of a `lightning:` URI, which has no standard. A decimal is in bitcoin, as in
 * `bitcoin:` URIs; a whole number could be sats or bitcoin, and is only compared with an invoice's own amount.
 */
export const askedIn = (written: string, own?: Msat.Msat): Result.Result<Msat.Msat, DestinationInvalid> => {
  const bitcoin = Bip21.parseAmount(written)
  if (own === undefined) {
    if (written.includes("."))
      return Result.mapError(
        bitcoin,
        ({ message }) => new DestinationInvalid({ code: "invalid_uri", message })
      )
    return refuse(
      "invalid_uri",
      "The amount after the destination has no unit. Remove it, and specify the amount separately"
    )
  }
  const whole = /^\d{1,16}$/.test(written) ? BigInt(written) : undefined
  const isSame =
    whole === own ||
    [Msat.toSats(own), Msat.toSatsCeiling(own)].some(
      (sats) => whole === sats || (Result.isSuccess(bitcoin) && Msat.toSats(bitcoin.success) === sats)
    )
  return isSame
    ? Result.succeed(own)
    : refuse("amount_mismatch", "The invoice and the amount after it differ")
}
