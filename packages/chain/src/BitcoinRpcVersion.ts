import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Versions from "@satrail/core/nodes/Versions"
import { Effect, Schema } from "effect"
import type * as Connection from "./BitcoinRpcConnection.ts"

const NetworkInfo = Schema.Struct({ subversion: Schema.String })
const Info = Schema.Struct({ version: Schema.Int })

/** Of Core and of what is made from it: `/Satoshi:29.4.3/Knots:20260508/`. Its number alone would not say whose it is. */
const ofCore = (subversion: string) => /^\/Satoshi:(\d+\.\d+(?:\.\d+)?)/.exec(subversion)?.[1]

/** btcd's 240200 is 0.24.2. */
const ofBtcd = (version: number) => [1_000_000, 10_000, 100].map((unit) => Math.floor(version / unit) % 100).join(".")

/** What is known against the version of a node. Undefined where nothing is, and where the node does not tell its version or does not let this user ask. */
export const judgement = ({ call }: Connection.Connection): Effect.Effect<Versions.Judgement | undefined, ChainUnavailable> => {
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
