import { Result, Schema } from "effect"

/** The destination cannot be paid. `message` states the error and what would be valid. */
export class DestinationInvalid extends Schema.TaggedError<DestinationInvalid>()("DestinationInvalid", {
  code: Schema.Literals([
    "unrecognised",
    "invalid_invoice",
    "invalid_address",
    "invalid_lnurl",
    "invalid_lightning_address",
    "invalid_offer",
    "invalid_uri",
    "amount_mismatch",
    "wrong_network",
    "unsupported"
  ]),
  message: Schema.String
}) {}

export const refuse = (code: DestinationInvalid["code"], message: string) =>
  Result.fail(new DestinationInvalid({ code, message }))
