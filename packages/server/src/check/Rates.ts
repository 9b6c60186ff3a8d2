import * as JsonText from "@satrail/core/base/JsonText"
import * as Outbound from "@satrail/web/Outbound"
import * as Rates from "@satrail/web/Rates"
import * as Tickers from "@satrail/web/Tickers"
import { Clock, Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, outage, right, warning } from "../base/Check.ts"

/** Returns the names of the tickers that don't respond correctly. */
const silent = Effect.fnUntraced(function* (
  tickers: ReadonlyArray<Tickers.Ticker>,
  { ask }: Outbound.Outbound["Service"]
) {
  const answers = yield* Effect.forEach(
    tickers,
    ({ url, read }) =>
      Effect.gen(function* () {
        const { body } = yield* ask({ url, headers: { accept: "application/json" } })
        return (read(JsonText.exact(body), yield* Clock.currentTimeMillis)?.length ?? 0) > 0
      }).pipe(Effect.catch(() => Effect.succeed(false))),
    { concurrency: "unbounded" }
  )
  return tickers.filter((_, at) => answers[at] !== true).map(({ name }) => name)
})

const look = Effect.fnUntraced(function* (
  outbound: Outbound.Outbound["Service"],
  tickers: ReadonlyArray<Tickers.Ticker>
) {
  const missing = yield* silent(tickers, outbound)
  const answering = tickers.length - missing.length
  const remedy = `Let this machine reach ${tickers.map(({ url }) => new URL(url).host).join(", ")} on port 443.`
  if (answering < Rates.rules.minAgreeing)
    return [
      outage(
        `${answering} of ${tickers.length} tickers respond, but ${Rates.rules.minAgreeing} must agree: amounts in fiat are refused`,
        remedy
      )
    ]
  const says = `${answering} of ${tickers.length} tickers respond`
  return [
    missing.length === 0
      ? right(says)
      : warning(`${says}. No valid response from ${missing.join(", ")}`, remedy)
  ]
})

export const check = (
  { rates, network, outboundAllow }: Environment,
  outbound: Outbound.Outbound["Service"] = Outbound.make({ allow: outboundAllow }),
  tickers: ReadonlyArray<Tickers.Ticker> = Tickers.all
): Check => ({
  subject: "rates",
  isLater: true,
  lines:
    rates === "tickers"
      ? look(outbound, tickers)
      : Effect.succeed([
          network === "regtest"
            ? right("simulated and constant")
            : warning("the price of bitcoin is simulated and constant", "Set RATES=tickers.")
        ])
})
