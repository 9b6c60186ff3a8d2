import { Dns, DnsUnavailable } from "@satrail/core/base/Dns"
import { Effect, Layer } from "effect"
import * as NameServers from "./NameServers.ts"
import * as ValidatingResolver from "./ValidatingResolver.ts"

export interface Options extends NameServers.Options {
  /**
   * Resolvers that validate DNSSEC: `tcp://127.0.0.1:53` on this machine, or DNS over HTTPS as
   * `https://dns.example.com/dns-query`. None by default.
   */
  readonly validating?: ReadonlyArray<URL>
}

export const make = ({ validating = [], ...options }: Options = {}): Dns["Service"] => {
  const query = NameServers.make(options)
  return Dns.of({
    txt: (name) =>
      Effect.tryPromise({
        try: (signal) => query(signal, (resolver) => resolver.resolveTxt(name)),
        catch: (cause) => cause
      }).pipe(
        // A record longer than 255 bytes consists of several strings.
        Effect.map((records) => records.map((strings) => strings.join(""))),
        Effect.catch((cause) =>
          NameServers.isNone(cause) ? Effect.succeed([]) : Effect.fail(new DnsUnavailable({ name }))
        )
      ),
    ...(validating.length > 0 && { validated: ValidatingResolver.make(validating) })
  })
}

export const layer = (options?: Options): Layer.Layer<Dns> => Layer.sync(Dns, () => make(options))
