import * as ValidatingResolver from "@satrail/web/ValidatingResolver"
import * as Setting from "./Setting.ts"

/** Other people's servers: prices, addresses, names. */
export const settings = {
  rates: Setting.optional({
    name: "RATES",
    meaning:
      "The source of exchange rates: tickers fetches public ones, fixed has constant prices, for evaluation. Default: fixed with the sandbox's Lightning node, else tickers",
    ...Setting.oneOf("fixed", "tickers")
  }),
  resolver: Setting.optional({
    name: "RESOLVER",
    meaning:
      "Where outside Lightning addresses, LNURLs, TXT records of domains and relays of zaps are: on the web, or in the sandbox. Default: sandbox with the sandbox's Lightning node, else web",
    ...Setting.oneOf("sandbox", "web")
  }),
  bip353Resolvers: Setting.optional({
    name: "BIP353_RESOLVER",
    meaning:
      "Resolvers that validate DNSSEC: payees like ₿user@domain, and user@domain first, are looked up there (BIP 353), the next one where one gives no answer. Their word on signatures is believed: take one of your own, on this machine. Without one, user@domain is a Lightning address only",
    wants: `up to ${ValidatingResolver.maxResolvers} of tcp://127.0.0.1:53 and https://dns.example.com/dns-query (RFC 8484; tcp and http on this machine only), separated by commas`,
    read: (text): ReadonlyArray<URL> | undefined => {
      const urls = text.split(",").map((one) => ValidatingResolver.urlOf(one.trim()))
      const known = urls.flatMap((url) => (url === undefined ? [] : [url]))
      return known.length === urls.length && urls.length <= ValidatingResolver.maxResolvers ? known : undefined
    }
  }),
  outboundAllow: Setting.optional({
    name: "SATRAIL_OUTBOUND_ALLOW",
    meaning: "Hosts that are reached at another address, without the checks of outbound requests; for development only",
    wants: "hosts and where each is, such as pay.example=http://127.0.0.1:8080, separated by commas",
    read: (text): ReadonlyMap<string, URL> | undefined => {
      const places = text.split(",").map((one) => /^\s*([a-z0-9.-]+(?::\d+)?)=(https?:\/\/[^/?#@\s]+)\s*$/.exec(one))
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
