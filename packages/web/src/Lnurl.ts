import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import * as JsonText from "@satrail/core/base/JsonText"
import { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import { maxCharacters } from "@satrail/core/nodes/SuccessAction"
import { Effect, Result, Schema } from "effect"
import type { Outbound, Request } from "./Outbound.ts"

// The parts that all LNURL servers' responses share (LUD-01).

export const refuse = (reason: string) => Result.fail(new RecipientRefused({ reason }))

/** Parses an amount in millisatoshis. An amount above bitcoin's supply is reduced to the supply. */
export const Amount = Schema.String.check(Schema.isMaxLength(32))
export const amountOf = (text: string): Msat.Msat | undefined => {
  const decimal = Result.getOrUndefined(Decimal.parse(text))
  if (decimal === undefined || decimal.scale !== 0 || decimal.digits <= 0n) return undefined
  return decimal.digits > Msat.max ? Msat.max : Msat.make(decimal.digits)
}

/** Shortens another server's text to one line for display. */
export const quoted = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim()
  return `"${line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line}"`
}

/** Returns the fields of a response; undefined if it is not an object. */
export const objectOf = (body: string): object | undefined => {
  const members = JsonText.exact(body)
  return typeof members === "object" && members !== null && !Array.isArray(members) ? members : undefined
}

/**
 * Returns the reason of an error response; undefined if it is not one. HTTP statuses have no meaning in LNURL
 * (LUD-01).
 */
export const noOf = (members: object): string | undefined => {
  if (
    !("status" in members) ||
    typeof members.status !== "string" ||
    members.status.toUpperCase() !== "ERROR"
  )
    return undefined
  return `its server says ${"reason" in members && typeof members.reason === "string" ? quoted(members.reason) : "no"}`
}

/** Returns the fields of a response, unless it is an error. */
const membersOf = (body: string): Result.Result<object, RecipientRefused> => {
  const members = objectOf(body)
  if (members === undefined) return refuse("its server did not return JSON")
  const no = noOf(members)
  return no === undefined ? Result.succeed(members) : refuse(no)
}

/**
 * Maximum number of values in a response, and in its metadata. A response can consist of 150,000, which take 0.2 s of
 * the thread to decode.
 */
export const maxValues = 1000

const hasTooMany = (body: string): boolean => /^\s*[[{]/.test(body) && JsonText.hasMoreValues(body, maxValues)

/** Calls a server and returns the fields of its response. */
export const asking = ({ ask }: Outbound["Service"]) =>
  Effect.fnUntraced(function* (request: Request) {
    const { status, body } = yield* ask({ ...request, headers: { accept: "application/json" } }).pipe(
      Effect.catchTags({
        Forbidden: ({ reason }) =>
          Effect.fail(new RecipientRefused({ reason: `its address cannot be requested: ${reason}` })),
        Unusable: ({ reason }) => Effect.fail(new RecipientRefused({ reason: `its server ${reason}` })),
        Unreachable: () => Effect.fail(new RecipientUnreachable({ reason: "no response" }))
      })
    )
    const isTooMuch = hasTooMany(body)
    const members = isTooMuch ? refuse(`its server returned more than ${maxValues} values`) : membersOf(body)
    // A gateway reports an unavailable server by status, without an LNURL error body.
    if (
      Result.isFailure(members) &&
      (status === 429 || status >= 500) &&
      (isTooMuch || JsonText.exact(body) === undefined)
    )
      return yield* new RecipientUnreachable({ reason: `its server returned ${status}` })
    return yield* Effect.fromResult(members)
  })

/** Returns `<callback><?|&><query>`, keeping any query of the callback. */
export const withQuery = (callback: string, query: string): string => {
  const [url = ""] = callback.split("#")
  return `${url}${url.includes("?") ? "&" : "?"}${query}`
}
