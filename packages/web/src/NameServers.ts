import dns from "node:dns"
import { setTimeout } from "node:timers/promises"

export interface Options {
  /** Name servers, as `address` or `address:port`. Defaults to the system's. */
  readonly servers?: ReadonlyArray<string>
  /** Timeout of the first try. It doubles with each further try. */
  readonly timeoutMillis?: number
  readonly tries?: number
}

/**
 * Once one family of addresses is known, the other is awaited only this long, because some name servers never
 * respond to queries for IPv6.
 */
export const otherFamilyMillis = 500

/** Maximum number of addresses of one family that are used. A response can contain thousands. */
export const maxPerFamily = 16

/** Returns whether a failed query proves that there are no such records. */
export const isNone = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === dns.NOTFOUND || cause.code === dns.NODATA)

/**
 * Queries name servers directly. `dns.lookup` would occupy one of the process's few threads until a name server
 * responds, so strangers' names whose servers never respond would block every other lookup of this process.
 *
 * The system's `hosts` file is not read. Its names are for private hosts, which strangers' names must not reach,
 * and prove nothing about who owns a domain. The system still resolves the hosts of the database and of nodes,
 * and those that the operator trusts (`allow`), so there the file applies.
 *
 * Each query has its own resolver, because canceling affects all queries of a resolver.
 */
export const make =
  ({ servers, timeoutMillis = 1_000, tries = 3 }: Options = {}) =>
  async <A>(signal: AbortSignal, ask: (resolver: dns.promises.Resolver) => Promise<A>): Promise<A> => {
    const resolver = new dns.promises.Resolver({ timeout: timeoutMillis, tries })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener("abort", cancel, { once: true })
    try {
      return await ask(resolver)
    } finally {
      cancel()
    }
  }

/** Returns the IPv4 and IPv6 addresses of a name. Empty if there are none or the name does not exist. */
export const addresses = (options?: Options) => {
  const query = make(options)
  return (name: string, signal: AbortSignal): Promise<ReadonlyArray<string>> =>
    query(signal, async (resolver) => {
      const found: Array<ReadonlyArray<string>> = [[], []]
      let failure: unknown
      const asked = [resolver.resolve4(name), resolver.resolve6(name)].map(async (family, n) => {
        try {
          found[n] = (await family).slice(0, maxPerFamily)
        } catch (cause) {
          if (!isNone(cause)) failure = cause
        }
      })
      const both = Promise.all(asked)
      await Promise.race(asked)
      await (found.flat().length > 0
        ? Promise.race([both, setTimeout(otherFamilyMillis, undefined, { ref: false })])
        : both)
      const all = found.flat()
      if (all.length === 0 && failure !== undefined) throw failure
      return all
    })
}
