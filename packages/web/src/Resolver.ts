import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import * as JsonText from "@satrail/core/base/JsonText"
import { type Offer, RecipientRefused, RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { maxCharacters, SuccessAction } from "@satrail/core/nodes/SuccessAction"
import * as Destination from "@satrail/core/sending/Destination"
import { Effect, Layer, Result, Schema } from "effect"
import { Outbound } from "./Outbound.ts"

const refuse = (reason: string) => Result.fail(new RecipientRefused({ reason }))

/** A number of millisatoshis, from the text it was written as. More than there can ever be is as good as all there is. */
const Amount = Schema.String.check(Schema.isMaxLength(32))
const amountOf = (text: string): Msat.Msat | undefined => {
  const decimal = Result.getOrUndefined(Decimal.parse(text))
  if (decimal === undefined || decimal.scale !== 0 || decimal.digits <= 0n) return undefined
  return decimal.digits > Msat.max ? Msat.max : Msat.make(decimal.digits)
}

const PayRequest = Schema.Struct({
  callback: Schema.String,
  minSendable: Amount,
  maxSendable: Amount,
  metadata: Schema.String,
  payerData: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
})

const Entries = Schema.Array(Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Unknown]))

/** Metadata has one `text/plain` entry, a text (LUD-06). */
const isMetadata = (text: string): boolean => {
  const entries = Schema.decodeUnknownOption(Entries)(JsonText.exact(text))
  const plain = entries._tag === "Some" ? entries.value.filter(([type]) => type === "text/plain") : []
  return plain.length === 1 && typeof plain[0]?.[1] === "string"
}

const isMandatory = (wanted: unknown): boolean =>
  typeof wanted === "object" && wanted !== null && "mandatory" in wanted && wanted.mandatory === true

/** What another server says, to be shown: one line of no great length. */
const quoted = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim()
  return `"${line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line}"`
}

/** The members of an answer, unless it says no. Statuses have no meaning in LNURL (LUD-01). */
const membersOf = (body: string): Result.Result<object, RecipientRefused> => {
  const members = JsonText.exact(body)
  if (typeof members !== "object" || members === null || Array.isArray(members)) return refuse("its server did not answer with JSON")
  if (!("status" in members) || typeof members.status !== "string" || members.status.toUpperCase() !== "ERROR")
    return Result.succeed(members)
  return refuse(`its server says ${"reason" in members && typeof members.reason === "string" ? quoted(members.reason) : "no"}`)
}

/** The terms of a `payRequest` (LUD-06); refused where payer data is required (LUD-18). */
const offerOf = (members: object): Result.Result<Offer, RecipientRefused> => {
  const tag = "tag" in members && typeof members.tag === "string" ? members.tag : ""
  const purpose = Lnurl.otherPurpose(tag)
  if (purpose !== undefined) return refuse(`the LNURL ${purpose}: it cannot be paid`)
  if (tag !== "payRequest") return refuse(`its server did not answer with a payRequest (LUD-06)`)
  const decoded = Schema.decodeUnknownOption(PayRequest)(members)
  if (decoded._tag === "None") return refuse("its server's payRequest is not as LUD-06 has it")
  const { callback, minSendable, maxSendable, metadata, payerData } = decoded.value
  const [min, max] = [amountOf(minSendable), amountOf(maxSendable)]
  if (min === undefined || max === undefined || min > max) return refuse("its server takes no amount that there is")
  if (!isMetadata(metadata)) return refuse("its server's metadata is not as LUD-06 has it")
  const wanted = Object.entries(payerData ?? {}).flatMap(([name, how]) => (isMandatory(how) ? [name] : []))
  if (wanted.length > 0) return refuse(`its server requires the payer's ${quoted(wanted.join(", "))}, which this service does not send`)
  return Result.succeed({ callback, min, max, metadata })
}

const decodeAction = Schema.decodeUnknownOption(Schema.NullOr(SuccessAction))

/** What is to be shown at the end. One that cannot be kept and shown forbids the payment (LUD-09). */
const actionOf = (members: object, callback: string): Result.Result<SuccessAction | null, RecipientRefused> => {
  const action = decodeAction(("successAction" in members ? members.successAction : null) ?? null)
  if (action._tag === "None") return refuse("its server wants something done after the payment that is not known here")
  if (action.value?.tag === "url" && URL.parse(action.value.url)?.host !== URL.parse(callback)?.host)
    return refuse("its server leads somewhere else after the payment")
  return Result.succeed(action.value)
}

/** `<callback><?|&>amount=<msat>`, with whatever query the callback has already. */
const asking = (callback: string, amount: Msat.Msat): string => {
  const [url = ""] = callback.split("#")
  return `${url}${url.includes("?") ? "&" : "?"}amount=${amount}`
}

/** LNURL-pay and Lightning addresses (LUD-06, 09, 10, 16, 17, 18) over the guarded way out. */
export const make = Effect.gen(function* () {
  const { ask } = yield* Outbound

  const answer = Effect.fnUntraced(function* (url: string) {
    const { status, body } = yield* ask({ url, headers: { accept: "application/json" } }).pipe(
      Effect.catchTags({
        Forbidden: ({ reason }) => Effect.fail(new RecipientRefused({ reason: `its address cannot be requested: ${reason}` })),
        Unusable: ({ reason }) => Effect.fail(new RecipientRefused({ reason: `its server ${reason}` })),
        Unreachable: () => Effect.fail(new RecipientUnreachable({ reason: "no response" }))
      })
    )
    const members = membersOf(body)
    // A gateway says so when what is behind it is away, and not in LNURL's words.
    if (Result.isFailure(members) && (status === 429 || status >= 500) && JsonText.exact(body) === undefined)
      return yield* new RecipientUnreachable({ reason: `its server answered with ${status}` })
    return yield* Effect.fromResult(members)
  })

  return Resolver.of({
    offer: (url) => Effect.flatMap(answer(url), (members) => Effect.fromResult(offerOf(members))),
    invoice: Effect.fnUntraced(function* ({ callback, min, max }, amount) {
      if (amount < min || amount > max)
        return yield* new RecipientRefused({ reason: `it takes from ${Msat.toSatsCeiling(min)} to ${Msat.toSats(max)} sats` })
      const members = yield* answer(asking(callback, amount))
      const paymentRequest = "pr" in members && typeof members.pr === "string" ? members.pr : ""
      if (paymentRequest === "" || paymentRequest.length > Destination.maxLength)
        return yield* new RecipientRefused({ reason: "its server sent no invoice" })
      return { paymentRequest, successAction: yield* Effect.fromResult(actionOf(members, callback)) }
    })
  })
})

export const layer: Layer.Layer<Resolver, never, Outbound> = Layer.effect(Resolver, make)
