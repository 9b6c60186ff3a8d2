import { type Names, NamesUnavailable, type Validated } from "@satrail/core/base/Names"
import { Effect } from "effect"
import * as DnsMessage from "./DnsMessage.ts"
import * as Outbound from "./Outbound.ts"

/** How many resolvers are tried, one after the other, at most. */
export const maxResolvers = 3

/** The time limits of one resolver. All of them together, and a payee's server after them, answer within the time of a request. */
export const limits = { connectMillis: 1_500, totalMillis: 3_000, maxBytes: DnsMessage.maxBytes, maxRedirects: 0 }

/** The response codes that say something of the name: it has these records, or there is no such name. */
const [noError, noSuchName] = [0, 3]

const bytesOf = (body: string): Uint8Array => Uint8Array.from(body, (character) => character.charCodeAt(0))

/**
 * Asks resolvers that validate DNSSEC over HTTPS (RFC 8484), at these URLs, the next where one gives no answer. They are the operator's choice, wherever
 * they are, and what they say of signatures is believed. Nothing is cached: what is asked for is paid at once.
 */
export const make = (
  resolvers: ReadonlyArray<URL>,
  { ask } = Outbound.make({ ...limits, allow: new Map(resolvers.map((url) => [url.host, url] as const)), keepsConnections: true })
): NonNullable<Names["Service"]["validated"]> => {
  const askOne = Effect.fnUntraced(function* (name: string, resolver: URL): Effect.fn.Return<Validated, unknown> {
    const url = new URL(resolver)
    url.searchParams.set("dns", Buffer.from(DnsMessage.question(name)).toString("base64url"))
    const { status, body } = yield* ask({ url: url.href, headers: { accept: "application/dns-message" }, isBinary: true })
    if (status !== 200) return yield* Effect.fail(`status ${status}`)
    const { code, isAuthenticated, texts } = yield* Effect.fromResult(DnsMessage.decode(bytesOf(body), name))
    // Of records that are signed wrongly, and of name servers that are away, a resolver says 2 (SERVFAIL).
    if (code !== noError && code !== noSuchName) return yield* Effect.fail(`response code ${code}`)
    if (code === noSuchName && texts.length > 0) return yield* Effect.fail("records of a name that does not exist")
    return { texts, isSigned: isAuthenticated }
  })

  return (name) =>
    DnsMessage.isName(name)
      ? Effect.firstSuccessOf(
          resolvers.map((resolver) =>
            Effect.tapError(askOne(name, resolver), (error) =>
              Effect.logDebug("names: a resolver gave no answer", { resolver: resolver.host, error })
            )
          )
        ).pipe(Effect.mapError(() => new NamesUnavailable({ name })))
      : Effect.fail(new NamesUnavailable({ name }))
}
