import * as Outbound from "@satrail/web/Outbound"
import { Clock, Effect, Schema } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, outage, right, warning } from "../base/Check.ts"

// Invoices, leases and rates expire by this machine's clock.
// https://docs.cdp.coinbase.com/coinbase-app/track-apis/time
const url = "https://api.coinbase.com/v2/time"
const Time = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ epoch: Schema.Finite }) }))

/**
 * The clock differences above which a warning and a problem are reported. Above the second, invoices would be
 * wrong. The other clock has a resolution of one second.
 */
const told = { warning: 2000, wrong: 10_000 }

const look = Effect.fnUntraced(
  function* ({ ask }: Outbound.Outbound["Service"]): Effect.fn.Return<ReadonlyArray<Line>, unknown> {
    const sentMillis = yield* Clock.currentTimeMillis
    const { body } = yield* ask({ url, headers: { accept: "application/json" } })
    const heardMillis = yield* Clock.currentTimeMillis
    const { data } = yield* Schema.decodeUnknownEffect(Time)(body)
    const offMillis = data.epoch * 1000 + 500 - (sentMillis + heardMillis) / 2
    const sure = Math.max(0, Math.abs(offMillis) - (heardMillis - sentMillis) / 2)
    if (sure < told.warning) return [right("this machine's clock is correct")]
    const says = `this machine's clock is ${(Math.abs(offMillis) / 1000).toFixed(0)} s ${offMillis > 0 ? "behind" : "ahead"}`
    const remedy = "Synchronize it with NTP (chrony, systemd-timesyncd)."
    return [sure < told.wrong ? warning(says, remedy) : outage(says, remedy)]
  },
  Effect.catch(() =>
    Effect.succeed([
      warning(
        "no outside server reported the time",
        "Check that NTP synchronizes this machine's clock (`timedatectl`)."
      )
    ])
  )
)

/**
 * Checks this machine's clock. Calls the outside server only if the service is configured to call outside
 * servers anyway.
 */
export const check = (
  { rates, outboundAllow }: Environment,
  outbound: Outbound.Outbound["Service"] = Outbound.make({ allow: outboundAllow })
): Check => ({
  subject: "clock",
  isLater: true,
  lines: rates === "tickers" ? look(outbound) : Effect.succeed([])
})
