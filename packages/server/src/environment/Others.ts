import * as ValidatingResolver from "@satrail/web/ValidatingResolver"
import * as Setting from "./Setting.ts"

/** Settings for other parties' servers: prices, addresses, names. */
export const settings = {
  rates: Setting.optional({
    name: "RATES",
    meaning:
      "The source of exchange rates. tickers fetches public rates; fixed uses constant prices, for evaluation only. Default: fixed if LIGHTNING=sandbox, otherwise tickers",
    ...Setting.oneOf("fixed", "tickers")
  }),
  resolver: Setting.optional({
    name: "RESOLVER",
    meaning:
      "Where external Lightning addresses, LNURLs, TXT records and zap relays are looked up: on the web, or in the sandbox. Default: sandbox if LIGHTNING=sandbox, otherwise web",
    ...Setting.oneOf("sandbox", "web")
  }),
  bip353Resolvers: Setting.optional({
    name: "BIP353_RESOLVER",
    meaning:
      "Resolvers that validate DNSSEC, to pay names such as ₿user@domain (BIP 353). A plain user@domain is tried as a BIP 353 name first, then as a Lightning address. If a resolver does not respond, the next one is tried. The service trusts the resolvers' validation, so run your own on this machine. Without any resolver, user@domain is only tried as a Lightning address",
    wants: `up to ${ValidatingResolver.maxResolvers} of tcp://127.0.0.1:53 and https://dns.example.com/dns-query (RFC 8484; tcp and http on this machine only), separated by commas`,
    read: (text): ReadonlyArray<URL> | undefined => {
      const urls = text.split(",").map((one) => ValidatingResolver.urlOf(one.trim()))
      const known = urls.flatMap((url) => (url === undefined ? [] : [url]))
      return known.length === urls.length && urls.length <= ValidatingResolver.maxResolvers
        ? known
        : undefined
    }
  }),
  outboundAllow: Setting.optional({
    name: "SATRAIL_OUTBOUND_ALLOW",
    meaning:
      "Hosts to contact at a different address, without the checks for outbound requests; for development only",
    wants: "hosts with their addresses, such as pay.example=http://127.0.0.1:8080, separated by commas",
    read: (text): ReadonlyMap<string, URL> | undefined => {
      const places = text
        .split(",")
        .map((one) => /^\s*([a-z0-9.-]+(?::\d+)?)=(https?:\/\/[^/?#@\s]+)\s*$/.exec(one))
      const allowed = new Map(
        places.flatMap((place) => {
          const url = URL.parse(place?.[2] ?? "")
          return place?.[1] === undefined || url === null ? [] : [[place[1], url] as const]
        })
      )
      return allowed.size === places.length ? allowed : undefined
    }
  })
}

export const sandboxSeed = Setting.withDefault({
  name: "SATRAIL_SANDBOX_SEED",
  meaning: "The seed of the simulated network: the same seed gives the same network",
  fallback: "satrail",
  wants: "any text",
  read: (text) => text
})
