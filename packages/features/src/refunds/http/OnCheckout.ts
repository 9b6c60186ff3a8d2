import * as Msat from "@satrail/bitcoin/Msat"
import type * as Refund from "../core/Refund.ts"
import { Refunds } from "../core/Refunds.ts"
import type { Refund as Shown } from "@satrail/ui/checkout/State"
import { Effect, Layer, Redacted } from "effect"
import { type Read, Refunded } from "../../checkouts/http/Refunded.ts"
import { link } from "@satrail/http/wire/LnurlLink"

type Open = Parameters<Read>[1]

/** Returns the link of a refund that can still be claimed. */
const lnurlOf = ({ refund: { sealedLink }, expiresAtMillis }: Refund.Shown, open: Open): string | null => {
  const url = sealedLink === null || expiresAtMillis === null ? undefined : open(sealedLink)
  return url === undefined ? null : link(Redacted.make(url)).lnurl
}

const shown = (told: ReadonlyArray<Refund.Shown>, open: Open): ReadonlyArray<Shown> =>
  told.flatMap((one) => {
    const { amount, status } = one.refund
    if (status !== "open" && status !== "pending" && status !== "completed") return []
    return [
      {
        sats: Number(Msat.toSats(amount)),
        status,
        lnurl: lnurlOf(one, open),
        expiresAtMillis: one.expiresAtMillis
      }
    ]
  })

/** Shows refunds on the page of the checkout whose deposit they refund. */
export const layer = Layer.effect(
  Refunded,
  Effect.gen(function* () {
    const refunds = yield* Refunds
    return ({ companyId, id, received }, open) =>
      // If nothing was received, there are no refunds.
      received === 0n
        ? Effect.succeed([])
        : Effect.map(refunds.ofCheckout(companyId, id), (told) => shown(told, open))
  })
)
