import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Result } from "effect"
import { PayRequestRefused } from "./PayRequest.ts"

/** Receipts for everyone to see, which a payer of a Lightning address requests with `nostr` (NIP-57). None are given unless a layer provides them. */
export class PublicReceipts extends Context.Reference<{
  /** The public key that signs them; null: none are given. */
  readonly signedBy: string | null
  /** Returns the request of a receipt for this amount as it came, null where none is requested. */
  readonly check: (request: string | null, amount: Msat) => Result.Result<string | null, PayRequestRefused>
}>("@satrail/core/receiving/PublicReceipts", {
  defaultValue: () => ({
    signedBy: null,
    check: (request) =>
      request === null || request === ""
        ? Result.succeed(null)
        : Result.fail(new PayRequestRefused({ code: "zap", message: "No zaps are taken here: leave nostr out" }))
  })
}) {}
