import { Clock, Effect } from "effect"
import dns from "node:dns/promises"
import tls from "node:tls"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, messageOf, outage, right, warning } from "../base/Check.ts"
import { isPublic } from "./Settings.ts"

/** A certificate that expires within this number of days is reported. */
const soonDays = 14
const dayMillis = 86_400_000

/** The servers to call. Tests replace them. */
export interface Ways {
  readonly lookup: (name: string) => Promise<ReadonlyArray<string>>
  readonly port: number
  /** Certificate authorities in addition to the system's. */
  readonly ca?: string
}

const systems: Ways = {
  lookup: async (name) => (await dns.lookup(name, { all: true })).map(({ address }) => address),
  port: 443
}

interface Shown {
  /** The reason why the certificate is not trusted. */
  readonly problem: string | undefined
  readonly validTo: string
}

/** Returns the certificate that wallets receive for this name at this address. */
const shownAt = (address: string, domain: string, { port, ca }: Ways) =>
  Effect.callback<Shown, Error>((resume) => {
    const socket = tls.connect({
      host: address,
      port,
      servername: domain,
      ...(ca !== undefined && { ca }),
      // Verify the certificate below instead, so that the problem can be reported.
      rejectUnauthorized: false
    })
    socket.once("secureConnect", () => {
      const problem = socket.authorized ? undefined : String(socket.authorizationError)
      resume(Effect.succeed({ problem, validTo: socket.getPeerCertificate().valid_to }))
    })
    socket.on("error", (cause) => resume(Effect.fail(cause)))
    return Effect.sync(() => socket.destroy())
  })

const certificate = Effect.fnUntraced(
  function* (domain: string, address: string, ways: Ways): Effect.fn.Return<Line, Error> {
    const { problem, validTo } = yield* shownAt(address, domain, ways)
    if (problem !== undefined)
      return outage(
        `wallets do not trust the certificate of ${domain}: ${problem}`,
        "Have the proxy get a certificate for this name (docs/guides/domains.md)."
      )
    const days = Math.floor((Date.parse(validTo) - (yield* Clock.currentTimeMillis)) / dayMillis)
    return days < soonDays
      ? warning(
          `the certificate of ${domain} expires in ${days} days`,
          "Find out why the proxy has not renewed it."
        )
      : right(`wallets trust the certificate of ${domain}, which is valid for ${days} days`)
  },
  (line, domain, address, { port }) =>
    line.pipe(
      Effect.catch((cause) =>
        Effect.succeed(
          outage(
            `wallets get no response at ${domain} (${address}, port ${port}): ${messageOf(cause)}`,
            "Start the proxy, and allow connections to port 443."
          )
        )
      )
    )
)

const look = Effect.fnUntraced(
  function* (domain: string, ways: Ways): Effect.fn.Return<ReadonlyArray<Line>, unknown> {
    const addresses = yield* Effect.tryPromise({ try: () => ways.lookup(domain), catch: (cause) => cause })
    const [first] = addresses
    if (first === undefined) return yield* Effect.fail(new Error("no address"))
    return [right(`${domain} is at ${addresses.join(", ")}`), yield* certificate(domain, first, ways)]
  },
  (lines, domain) =>
    lines.pipe(
      Effect.catch((cause) =>
        Effect.succeed([
          outage(
            `${domain} has no address: ${messageOf(cause)}`,
            "Add an A or AAAA record that points to the proxy, or correct SATRAIL_DOMAIN."
          )
        ])
      )
    )
)

/** Checks that outside wallets can resolve the domain and trust its certificate. */
export const check = ({ domain, network }: Environment, ways: Ways = systems): Check => ({
  subject: "domain",
  isLater: true,
  lines: isPublic(domain)
    ? look(domain, ways)
    : Effect.succeed(
        network === "regtest"
          ? []
          : [
              warning(
                `SATRAIL_DOMAIN is ${domain}: Lightning addresses at this domain cannot be paid from outside`,
                "Set it to your domain."
              )
            ]
      )
})
