import * as Setting from "./Setting.ts"

/** Other people's servers: prices, addresses, names. */
export const settings = {
  rates: Setting.optional({
    name: "RATES",
    meaning:
      "What a bitcoin costs: tickers asks public ones, fixed is prices that never move, for trying. Unless given: fixed with a pretend Lightning node",
    ...Setting.oneOf("fixed", "tickers")
  }),
  resolver: Setting.optional({
    name: "RESOLVER",
    meaning:
      "Where others' Lightning addresses, LNURLs, the TXT records of domains and the relays of zaps are: on the web, or the sandbox's. Unless given: sandbox with a pretend Lightning node",
    ...Setting.oneOf("sandbox", "web")
  }),
  outboundAllow: Setting.optional({
    name: "SATRAIL_OUTBOUND_ALLOW",
    meaning: "Hosts that are asked somewhere else, past every check of other people's servers; for developing only",
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
  meaning: "What the pretend network is grown from: the same seed is the same network",
  fallback: "satrail",
  wants: "any text",
  read: (text) => text
})
