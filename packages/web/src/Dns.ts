import { Dns, DnsUnavailable } from "@satrail/core/base/Dns"
import { Effect, Layer } from "effect"
import dns from "node:dns"
import * as ValidatingResolver from "./ValidatingResolver.ts"

export interface Options {
  /** Name servers, as `address` or `address:port`. Defaults to the system's. */
  readonly servers?: ReadonlyArray<string>
  readonly timeoutMillis?: number
  readonly tries?: number
  /**
   * Resolvers that validate DNSSEC: `tcp://127.0.0.1:53` on this machine, or DNS over HTTPS as
   * `https://dns.example.com/dns-query`. None by default.
   */
  readonly validating?: ReadonlyArray<URL>
}

const isNone = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === dns.NOTFOUND || cause.code === dns.NODATA)

/**
 * Queries name servers directly, because an entry in this machine's `hosts` file proves nothing about who owns
 * a domain.
 */
export const make = ({ servers, timeoutMillis = 2_000, tries = 2, validating = [] }: Options = {}): Dns["Service"] => {
  const resolver = new dns.promises.Resolver({ timeout: timeoutMillis, tries })
  if (servers !== undefined) resolver.setServers(servers)
  return Dns.of({
    txt: (name) =>
      Effect.tryPromise({ try: () => resolver.resolveTxt(name), catch: (cause) => cause }).pipe(
        // A record longer than 255 bytes consists of several strings.
        Effect.map((records) => records.map((strings) => strings.join(""))),
        Effect.catch((cause) => (isNone(cause) ? Effect.succeed([]) : Effect.fail(new DnsUnavailable({ name }))))
      ),
    ...(validating.length > 0 && { validated: ValidatingResolver.make(validating) })
  })
}

export const layer = (options?: Options): Layer.Layer<Dns> => Layer.sync(Dns, () => make(options))
