import * as Msat from "@satrail/bitcoin/Msat"
import { Cards, type Outcome, type Reader } from "@satrail/core/nodes/Cards"
import { RecipientRefused } from "@satrail/core/nodes/Resolver"
import { Effect, Layer, Schema } from "effect"
import * as Lnurl from "./Lnurl.ts"
import { Outbound } from "./Outbound.ts"

const WithdrawRequest = Schema.Struct({
  tag: Schema.Literal("withdrawRequest"),
  callback: Schema.String.check(Schema.isMaxLength(2000)),
  k1: Schema.String.check(Schema.isMaxLength(1000)),
  minWithdrawable: Lnurl.Amount,
  maxWithdrawable: Lnurl.Amount
})
const decode = Schema.decodeUnknownOption(WithdrawRequest)

/** Cards with an LNURL (LUD-03, LUD-17) over the guarded way out. */
export const make = Effect.gen(function* () {
  const outbound = yield* Outbound
  const answer = Lnurl.asking(outbound)

  /** Where this amount is asked of the card, unless it does not pay it. Nothing moves by that. */
  const callbackOf = Effect.fnUntraced(function* (url: string, amount: Msat.Msat, paymentRequest: string) {
    const decoded = decode(yield* answer({ url }))
    if (decoded._tag === "None") return yield* new RecipientRefused({ reason: "its server did not answer with a withdrawRequest (LUD-03)" })
    const { callback, k1, minWithdrawable, maxWithdrawable } = decoded.value
    const [min, max] = [Lnurl.amountOf(minWithdrawable) ?? Msat.zero, Lnurl.amountOf(maxWithdrawable) ?? Msat.zero]
    if (amount < min || amount > max)
      return yield* new RecipientRefused({ reason: `it pays from ${Msat.toSatsCeiling(min)} to ${Msat.toSats(max)} sats` })
    return Lnurl.withQuery(callback, new URLSearchParams({ k1, pr: paymentRequest }).toString())
  })

  /** From here on it may pay: only what it says itself, or that it could not be asked, is a no. */
  const call = (url: string): Effect.Effect<Outcome> =>
    outbound.ask({ url, redirects: 0, headers: { accept: "application/json" } }).pipe(
      Effect.map(({ body }): Outcome => {
        const members = Lnurl.objectOf(body)
        if (members === undefined) return { _tag: "unknown" }
        const no = Lnurl.noOf(members)
        if (no !== undefined) return { _tag: "refused", reason: no }
        return "status" in members && members.status === "OK" ? { _tag: "asked" } : { _tag: "unknown" }
      }),
      Effect.catchTags({
        Forbidden: ({ reason }) => Effect.succeed<Outcome>({ _tag: "refused", reason: `its address cannot be requested: ${reason}` }),
        Unusable: () => Effect.succeed<Outcome>({ _tag: "unknown" }),
        Unreachable: () => Effect.succeed<Outcome>({ _tag: "unknown" })
      })
    )

  return {
    charge: (url, { amount, paymentRequest }) =>
      callbackOf(url, amount, paymentRequest).pipe(
        Effect.matchEffect({
          onSuccess: call,
          onFailure: ({ _tag, reason }) =>
            Effect.succeed<Outcome>({ _tag: "refused", reason: _tag === "RecipientRefused" ? reason : `its server gave ${reason}` })
        })
      )
  } satisfies Reader
})

export const layer: Layer.Layer<never, never, Outbound> = Layer.effect(Cards, make)
