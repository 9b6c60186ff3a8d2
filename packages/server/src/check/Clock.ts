import * as Outbound from "@satrail/web/Outbound"
import { Clock, Effect, Schema } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, outage, right, warning } from "../base/Check.ts"

// Invoices expire, leases end and rates age by this machine's clock. https://docs.cdp.coinbase.com/coinbase-app/track-apis/time
const url = "https://api.coinbase.com/v2/time"
const Time = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ epoch: Schema.Finite }) }))

/** The difference from which on it is reported, and from which on invoices would be wrong. The other clock shows whole seconds. */
const told = { warning: 2000, wrong: 10_000 }

const look = Effect.fnUntraced(
  function* ({ ask }: Outbound.Outbound["Service"]): Effect.fn.Return<ReadonlyArray<Line>, unknown> {
    const sentMillis = yield* Clock.currentTimeMillis
    const { body } = yield* ask({ url, headers: { accept: "application/json" } })
    const heardMillis = yield* Clock.currentTimeMillis
    const { data } = yield* Schema.decodeUnknownEffect(Time)(body)
    const offMillis = data.epoch * 1000 + 500 - (sentMillis + heardMillis) / 2
    const sure = Math.max(0, Math.abs(offMillis) - (heardMillis - sentMillis) / 2)
    if (sure < told.warning) return [right("this machine's clock is right")]
    const says = `this machine's clock is ${(Math.abs(offMillis) / 1000).toFixed(0)} s ${offMillis > 0 ? "behind" : "ahead"}`
    const remedy = "Keep it with NTP (chrony, systemd-timesyncd)."
    return [sure < told.wrong ? warning(says, remedy) : outage(says, remedy)]
  },
  Effect.catch(() =>
    Effect.succeed([warning("no outside server gave the time", "Look that this machine's clock is kept by NTP (`timedatectl`).")])
  )
)

/** Whether this machine's clock is right. Checked where an outside server is called anyway. */
export const check = (
  { rates, outboundAllow }: Environment,
  outbound: Outbound.Outbound["Service"] = Outbound.make({ allow: outboundAllow })
): Check => ({ subject: "clock", isLater: true, lines: rates === "tickers" ? look(outbound) : Effect.succeed([]) })
