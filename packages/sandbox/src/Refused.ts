import { Result, Schema } from "effect"

/** The request to the outside world was refused or is impossible, and nothing happened. `message` states the reason. */
export class SandboxRefused extends Schema.TaggedError<SandboxRefused>()("SandboxRefused", {
  reason: Schema.Literals([
    "invoice_unreadable",
    "wrong_network",
    "invoice_unknown",
    "invoice_expired",
    "already_paid",
    "invoice_canceled",
    "amount_missing",
    "amount_too_small",
    "amount_too_large",
    "no_route",
    "not_held",
    "address_invalid",
    "amount_invalid",
    "unfunded",
    "transaction_unknown",
    "already_mined",
    "rejected",
    "out_of_range",
    "payee_unknown",
    "not_ours",
    "full"
  ]),
  message: Schema.String
}) {}

export const refuse = (reason: SandboxRefused["reason"], message: string) =>
  Result.fail(new SandboxRefused({ reason, message }))
