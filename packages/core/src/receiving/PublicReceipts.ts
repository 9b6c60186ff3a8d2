import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Result } from "effect"
import { PayRequestRefused } from "./PayRequest.ts"

/**
 * Public receipts, which the payer of a Lightning address can request with `nostr` (NIP-57). None are issued
 * unless a layer provides them.
 */
export class PublicReceipts extends Context.Reference<{
  /** Public key that signs the receipts; null if none are issued. */
  readonly signedBy: string | null
  /** Returns a valid receipt request for this amount exactly as received, or null if none was requested. */
  readonly check: (request: string | null, amount: Msat) => Result.Result<string | null, PayRequestRefused>
}>("@satrail/core/receiving/PublicReceipts", {
  defaultValue: () => ({
    signedBy: null,
    check: (request) =>
      request === null || request === ""
        ? Result.succeed(null)
        : Result.fail(new PayRequestRefused({ code: "zap", message: "Zaps are not accepted. Omit nostr" }))
  })
}) {}
