import { oneOf, type Reader, type Variable } from "./Variable.ts"

/** Other people's servers: prices, addresses, names. */
export interface Others {
  readonly rates: "fixed" | "tickers"
  readonly resolver: "sandbox" | "web"
  readonly outboundAllow: ReadonlyMap<string, URL>
  readonly sandboxSeed: string
}

export const variables = {
  rates: {
    name: "RATES",
    meaning:
      "What a bitcoin costs: tickers asks public ones, fixed is prices that never move, for trying. Unless given: fixed with a pretend Lightning node",
    fallback: "",
    ...oneOf("fixed", "tickers")
  },
  resolver: {
    name: "RESOLVER",
    meaning:
      "Where others' Lightning addresses, LNURLs, the TXT records of domains and the relays of zaps are: on the web, or the sandbox's. Unless given: sandbox with a pretend Lightning node",
    fallback: "",
    ...oneOf("sandbox", "web")
  },
  outboundAllow: {
    name: "SATRAIL_OUTBOUND_ALLOW",
    meaning: "Hosts that are asked somewhere else, past every check of other people's servers; for developing only",
    fallback: "",
    wants: "hosts and where each is, such as pay.example=http://127.0.0.1:8080, separated by commas",
    read: (text) => {
      const places = text.split(",").map((one) => /^\s*([a-z0-9.-]+(?::\d+)?)=(https?:\/\/[^/?#@\s]+)\s*$/.exec(one))
      const allowed = new Map(
        places.flatMap((place) => {
          const url = URL.parse(place?.[2] ?? "")
          return place?.[1] === undefined || url === null ? [] : [[place[1], url] as const]
        })
      )
      return allowed.size === places.length ? allowed : undefined
    }
  } satisfies Variable<ReadonlyMap<string, URL>>
}

export const sandboxSeed: Variable<string> = {
  name: "SATRAIL_SANDBOX_SEED",
  meaning: "What the pretend network is grown from: the same seed is the same network",
  fallback: "satrail",
  wants: "any text",
  read: (text) => text
}

/** Beside a pretend Lightning node everybody else is pretended too, unless the variables say otherwise. */
export const read = ({ optional, required }: Reader, lightning: string): Others => ({
  rates: optional(variables.rates) ?? (lightning === "sandbox" ? "fixed" : "tickers"),
  resolver: optional(variables.resolver) ?? (lightning === "sandbox" ? "sandbox" : "web"),
  outboundAllow: optional(variables.outboundAllow) ?? new Map(),
  sandboxSeed: required(sandboxSeed)
})
