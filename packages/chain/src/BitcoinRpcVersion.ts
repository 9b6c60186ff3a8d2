import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Versions from "@satrail/core/nodes/Versions"
import { Effect, Schema } from "effect"
import type * as Connection from "./BitcoinRpcConnection.ts"

const NetworkInfo = Schema.Struct({ subversion: Schema.String })
const Info = Schema.Struct({ version: Schema.Int })

/**
 * Parses the version of Core and its derivatives: `/Satoshi:29.4.3/Knots:20260508/`. The number alone would
 * not identify the software.
 */
const ofCore = (subversion: string) => /^\/Satoshi:(\d+\.\d+(?:\.\d+)?)/.exec(subversion)?.[1]

/** btcd's 240200 is 0.24.2. */
const ofBtcd = (version: number) =>
  [1_000_000, 10_000, 100].map((unit) => Math.floor(version / unit) % 100).join(".")

/**
 * Returns the known bugs of a node's version. Undefined if there are none, or if the node doesn't report its
 * version or doesn't allow this user to read it.
 */
export const judgement = ({
  call
}: Connection.Connection): Effect.Effect<Versions.Judgement | undefined, ChainUnavailable> => {
  const btcd = Effect.map(call("getinfo", [], Info), ({ version }) => Versions.judge("btcd", ofBtcd(version)))
  const core = Effect.map(call("getnetworkinfo", [], NetworkInfo), ({ subversion }) => {
    const version = ofCore(subversion)
    return version === undefined ? undefined : Versions.judge("Bitcoin Core", version)
  })
  return core.pipe(
    Effect.catchTag("RpcRefused", () => btcd),
    Effect.catchTag("RpcRefused", () => Effect.undefined)
  )
}
