import { Context } from "effect"

/** Returns a link to a transaction for payers, or null if there is none. */
export type Explorer = (txId: string) => string | null

/** Placeholder for the transaction ID in an explorer's URL template. */
export const placeholder = "{txid}"

export const ofTemplate =
  (template: string): Explorer =>
  (txId) =>
    template.replace(placeholder, txId)

/** Default: no links, because an explorer learns who looks up which payment. */
export const Explorer = Context.Reference<Explorer>("@satrail/features/checkouts/http/Explorer", {
  defaultValue: () => () => null
})
