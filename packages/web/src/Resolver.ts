import { otherPurpose } from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as JsonText from "@satrail/core/base/JsonText"
import { type PayTerms, RecipientRefused, Resolver } from "@satrail/core/nodes/Resolver"
import { SuccessAction } from "@satrail/core/nodes/SuccessAction"
import * as Destination from "@satrail/core/sending/Destination"
import { Effect, Layer, Result, Schema } from "effect"
import * as Lnurl from "./Lnurl.ts"
import { Outbound } from "./Outbound.ts"

const { Amount, amountOf, quoted, refuse, withQuery } = Lnurl

const PayRequest = Schema.Struct({
  callback: Schema.String,
  minSendable: Amount,
  maxSendable: Amount,
  metadata: Schema.String,
  payerData: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
})

const Entries = Schema.Array(Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Unknown]))

/** Returns whether metadata has exactly one `text/plain` entry with a string, as required (LUD-06). */
const isMetadata = (text: string): boolean => {
  if (JsonText.hasMoreValues(text, Lnurl.maxValues)) return false
  const entries = Schema.decodeUnknownOption(Entries)(JsonText.exact(text))
  const plain = entries._tag === "Some" ? entries.value.filter(([type]) => type === "text/plain") : []
  return plain.length === 1 && typeof plain[0]?.[1] === "string"
}

const isMandatory = (wanted: unknown): boolean =>
  typeof wanted === "object" && wanted !== null && "mandatory" in wanted && wanted.mandatory === true

/** Reads the terms of a `payRequest` (LUD-06). Refuses one that requires payer data (LUD-18). */
const offerOf = (members: object): Result.Result<PayTerms, RecipientRefused> => {
  const tag = "tag" in members && typeof members.tag === "string" ? members.tag : ""
  const purpose = otherPurpose(tag)
  if (purpose !== undefined) return refuse(`the LNURL ${purpose}, so it cannot be paid`)
  if (tag !== "payRequest") return refuse(`its server did not return a payRequest (LUD-06)`)
  const decoded = Schema.decodeUnknownOption(PayRequest)(members)
  if (decoded._tag === "None") return refuse("its server's payRequest does not conform to LUD-06")
  const { callback, minSendable, maxSendable, metadata, payerData } = decoded.value
  const [min, max] = [amountOf(minSendable), amountOf(maxSendable)]
  if (min === undefined || max === undefined || min > max) return refuse("its server accepts no valid amount")
  if (!isMetadata(metadata)) return refuse("its server's metadata does not conform to LUD-06")
  const wanted = Object.entries(payerData ?? {}).flatMap(([name, how]) => (isMandatory(how) ? [name] : []))
  if (wanted.length > 0)
    return refuse(
      `its server requires the payer's ${quoted(wanted.join(", "))}, which this service does not send`
    )
  return Result.succeed({ callback, min, max, metadata })
}

const decodeAction = Schema.decodeUnknownOption(Schema.NullOr(SuccessAction))

/** Reads the success action. Refuses a payment whose action cannot be stored and displayed (LUD-09). */
const actionOf = (
  members: object,
  callback: string
): Result.Result<SuccessAction | null, RecipientRefused> => {
  const action = decodeAction(("successAction" in members ? members.successAction : null) ?? null)
  if (action._tag === "None") return refuse("its server requires an unsupported action after the payment")
  if (action.value?.tag === "url" && URL.parse(action.value.url)?.host !== URL.parse(callback)?.host)
    return refuse("its server links to a different host after the payment")
  return Result.succeed(action.value)
}

/** LNURL-pay and Lightning addresses (LUD-06, 09, 10, 16, 17, 18) over the guarded client. */
export const make = Effect.gen(function* () {
  const asking = Lnurl.asking(yield* Outbound)
  const answer = (url: string) => asking({ url })

  return Resolver.of({
    offer: (url) => Effect.flatMap(answer(url), (members) => Effect.fromResult(offerOf(members))),
    invoice: Effect.fnUntraced(function* ({ callback, min, max }, amount) {
      if (amount < min || amount > max)
        return yield* new RecipientRefused({
          reason: `it accepts between ${Msat.toSatsCeiling(min)} and ${Msat.inSats(Msat.toSats(max))}`
        })
      const members = yield* answer(withQuery(callback, `amount=${amount}`))
      const paymentRequest = "pr" in members && typeof members.pr === "string" ? members.pr : ""
      if (paymentRequest === "" || paymentRequest.length > Destination.maxLength)
        return yield* new RecipientRefused({ reason: "its server did not return an invoice" })
      return { paymentRequest, successAction: yield* Effect.fromResult(actionOf(members, callback)) }
    })
  })
})

export const layer: Layer.Layer<Resolver, never, Outbound> = Layer.effect(Resolver, make)
