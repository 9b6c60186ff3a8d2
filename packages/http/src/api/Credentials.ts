import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { NotFound, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Errors from "../wire/Errors.ts"
import { type Member, SignedIn } from "./SignedIn.ts"

type Refused = ApiKey.Unauthorized | StoreUnavailable | NotFound | Errors.Failure<"malformed">

/**
 * A kind of credential, other than API keys, that acts for companies. A feature brings it in its `credentials`. Its callers
 * have the rights of the key in their `Member`, but cannot manage the company's keys and people (`Managing`).
 */
export interface Kind {
  /** How the text of each credential begins. Must differ from `sr_`, `op_` and the other kinds. */
  readonly prefix: string
  /** A header that requests must send with this credential, in lower case. Requests with any other are rejected. */
  readonly header: string
  /** Returns the caller of a request with this credential. Its result may be cached only as `ReadCache` allows. */
  readonly caller: (
    text: string,
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Member, Refused>
}

type Answered = Errors.FailureFor<Exclude<Refused, Errors.Failure>> | Errors.Failure<"malformed">

/** Fails with the response to this error. */
export const answered = (error: Refused): Effect.Effect<never, Answered> =>
  Errors.isFailure(error) ? Effect.fail(error) : Errors.answered(Effect.fail(error))

/** The kinds of credential other than API keys. */
export const Kinds = Context.Reference<ReadonlyArray<Kind>>("@satrail/http/api/Credentials/Kinds", {
  defaultValue: () => []
})

/** Marks an endpoint that shows or changes a company's keys and people, which only its own keys and people can use. */
export class Managing extends Context.Service<Managing, true>()("@satrail/http/api/Credentials/Managing") {}

/** The message is the same for all endpoints. */
export const notOwn = Errors.failure(
  "scope_required",
  "Only the company's own API keys and people can manage its keys, people and wallet connections."
)

/** Returns the text after `Bearer` (RFC 6750, section 2.1), empty if there is none. */
export const credentialOf = (authorization: string | undefined): string =>
  authorization === undefined || !/^bearer /i.test(authorization)
    ? ""
    : authorization.slice("bearer ".length).trim()

/** Returns the name under which a caller's requests are counted. A credential counts separately for each company. */
export const rateOf = ({ kind, apiKey }: Member): string =>
  kind === undefined ? apiKey.id : `${apiKey.id} ${apiKey.companyId}`

const capitalized = (header: string) => header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

/** Makes the functions that authenticate the requests of companies. */
export const make = Effect.gen(function* () {
  const [kinds, apiKeys, signedIn] = [yield* Kinds, yield* ApiKeys, yield* SignedIn]

  /** Rejects a header that another kind of credential needs, because the caller relies on it. */
  const plain = (request: HttpServerRequest.HttpServerRequest) => {
    const other = kinds.find(({ header }) => request.headers[header] !== undefined)
    if (other === undefined) return Effect.void
    const path = capitalized(other.header)
    return Effect.fail(
      Errors.malformedRequest([
        { path, message: `must be omitted: only keys that begin with ${other.prefix} can send it` }
      ])
    )
  }

  const caller = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Member, Refused> => {
    const text = credentialOf(request.headers["authorization"])
    const kind = kinds.find(({ prefix }) => text.startsWith(prefix))
    if (kind !== undefined)
      return Effect.map(kind.caller(text, request), (member) => ({ ...member, kind: kind.prefix }))
    const holder = apiKeys.check(text)
    return kinds.length === 0 ? holder : Effect.tap(holder, () => plain(request))
  }

  return {
    plain,
    /** Authenticates the credential that a request sends. */
    caller,
    /** Authenticates a request by its session or its credential. Fails with the response. */
    member: (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Member, Answered> => {
      const bySignIn = signedIn.company(request)
      return bySignIn === undefined
        ? caller(request).pipe(Effect.catch(answered))
        : Effect.tap(bySignIn, () => plain(request))
    }
  }
})
