import { Names, NamesUnavailable } from "@satrail/core/base/Names"
import { Effect, Layer } from "effect"
import dns from "node:dns"
import * as ValidatingResolver from "./ValidatingResolver.ts"

export interface Options {
  /** Name servers to ask, `address` or `address:port`. The system's unless given. */
  readonly servers?: ReadonlyArray<string>
  readonly timeoutMillis?: number
  readonly tries?: number
  /** Resolvers that validate DNSSEC: `tcp://127.0.0.1:53` on this machine, or by DNS over HTTPS `https://dns.example.com/dns-query`. None unless given. */
  readonly validating?: ReadonlyArray<URL>
}

const isNone = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === dns.NOTFOUND || cause.code === dns.NODATA)

/** Asks name servers directly: what is in this machine's `hosts` file shows nothing about who owns a domain. */
export const make = ({ servers, timeoutMillis = 2_000, tries = 2, validating = [] }: Options = {}): Names["Service"] => {
  const resolver = new dns.promises.Resolver({ timeout: timeoutMillis, tries })
  if (servers !== undefined) resolver.setServers(servers)
  return Names.of({
    txt: (name) =>
      Effect.tryPromise({ try: () => resolver.resolveTxt(name), catch: (cause) => cause }).pipe(
        // A record longer than 255 bytes comes in several strings.
        Effect.map((records) => records.map((strings) => strings.join(""))),
        Effect.catch((cause) => (isNone(cause) ? Effect.succeed([]) : Effect.fail(new NamesUnavailable({ name }))))
      ),
    ...(validating.length > 0 && { validated: ValidatingResolver.make(validating) })
  })
}

export const layer = (options?: Options): Layer.Layer<Names> => Layer.sync(Names, () => make(options))
