import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import * as JsonText from "@satrail/core/base/JsonText"
import { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import { maxCharacters } from "@satrail/core/nodes/SuccessAction"
import { Effect, Result, Schema } from "effect"
import type { Outbound, Request } from "./Outbound.ts"

// What servers of LNURLs answer, whichever they are (LUD-01).

export const refuse = (reason: string) => Result.fail(new RecipientRefused({ reason }))

/** A number of millisatoshis, from the text it was written as. More than there can ever be is as good as all there is. */
export const Amount = Schema.String.check(Schema.isMaxLength(32))
export const amountOf = (text: string): Msat.Msat | undefined => {
  const decimal = Result.getOrUndefined(Decimal.parse(text))
  if (decimal === undefined || decimal.scale !== 0 || decimal.digits <= 0n) return undefined
  return decimal.digits > Msat.max ? Msat.max : Msat.make(decimal.digits)
}

/** What another server says, to be shown: one line of no great length. */
export const quoted = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim()
  return `"${line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line}"`
}

/** The members of an answer; undefined where it is none that has any. */
export const objectOf = (body: string): object | undefined => {
  const members = JsonText.exact(body)
  return typeof members === "object" && members !== null && !Array.isArray(members) ? members : undefined
}

/** Why an answer says no; undefined where it does not. Statuses have no meaning in LNURL (LUD-01). */
export const noOf = (members: object): string | undefined => {
  if (!("status" in members) || typeof members.status !== "string" || members.status.toUpperCase() !== "ERROR") return undefined
  return `its server says ${"reason" in members && typeof members.reason === "string" ? quoted(members.reason) : "no"}`
}

/** The members of an answer, unless it says no. */
const membersOf = (body: string): Result.Result<object, RecipientRefused> => {
  const members = objectOf(body)
  if (members === undefined) return refuse("its server did not answer with JSON")
  const no = noOf(members)
  return no === undefined ? Result.succeed(members) : refuse(no)
}

/** Asks a server, and answers the members of what it says. */
export const asking = ({ ask }: Outbound["Service"]) =>
  Effect.fnUntraced(function* (request: Request) {
    const { status, body } = yield* ask({ ...request, headers: { accept: "application/json" } }).pipe(
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

/** `<callback><?|&><query>`, with whatever query the callback has already. */
export const withQuery = (callback: string, query: string): string => {
  const [url = ""] = callback.split("#")
  return `${url}${url.includes("?") ? "&" : "?"}${query}`
}
