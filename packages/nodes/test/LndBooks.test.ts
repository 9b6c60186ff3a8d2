import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { Effect, Layer, Redacted } from "effect"
import * as LndBooks from "../src/LndBooks.ts"
import { info, json, nodeId, server } from "./InLndsPlace.ts"

// What lnd 0.21.2 answered about a node that forwards: its peers opened both channels, and its wallet is empty.

interface Htlc {
  readonly incoming: boolean
  readonly amount: string
}

const whole = (msat: string) => ({ msat })

const answers = (msat: string, htlcs: ReadonlyArray<Htlc>): Readonly<Record<string, object>> => ({
  "/v1/balance/channels": {
    local_balance: whole(msat),
    unsettled_remote_balance: whole("0"),
    pending_open_local_balance: whole("0")
  },
  "/v1/channels": { channels: [{ initiator: false, commit_fee: "2811", pending_htlcs: htlcs }] },
  "/v1/channels/pending": { waiting_close_channels: [], pending_force_closing_channels: [] },
  "/v1/balance/blockchain": { total_balance: "0", unconfirmed_balance: "0" }
})

/** The books over what answers at lnd's paths. */
const books = Effect.fnUntraced(function* (said: () => Readonly<Record<string, object>>) {
  const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : json(200, said()[path] ?? {})))
  const identity = { nodeId, network: "regtest" } as const
  const built = yield* Layer.build(LndBooks.layer({ url, macaroon: Redacted.make("00"), identity }))
  return yield* Effect.provideContext(LightningBooks, built)
})

describe("The books of lnd", () => {
  it.live("lnd: a forward is explained while its payer's node is away, though a peer opened the channel", () =>
    Effect.gen(function* () {
      let said = answers("13950004467", [{ incoming: true, amount: "50006" }])
      const { owned } = yield* books(() => said)
      const away = yield* owned
      said = answers("14000010468", [])
      const settled = yield* owned
      assert.strictEqual(settled.within, Msat.zero)
      assert.isAtMost(Number(settled.amount - away.amount), Number(away.within))
    }).pipe(Effect.scoped)
  )

  it.live("lnd: a payment that leaves by a channel which a peer opened is counted to the msat", () =>
    Effect.gen(function* () {
      const { owned } = yield* books(() => answers("14000010468", [{ incoming: false, amount: "700" }]))
      assert.deepStrictEqual(yield* owned, { amount: Msat.make(14_000_010_468n), onChain: Msat.zero, within: Msat.zero })
    }).pipe(Effect.scoped)
  )
})
