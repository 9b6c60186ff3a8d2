import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import * as Behind from "@satrail/core/nodes/Behind"
import * as Channels from "@satrail/core/nodes/Channels"
import type { Capacity } from "@satrail/core/nodes/LightningBooks"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Versions from "@satrail/core/nodes/Versions"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndOutage from "@satrail/nodes/LndOutage"
import * as LndRest from "@satrail/nodes/LndRest"
import type * as Macaroon from "@satrail/nodes/Macaroon"
import * as NodeState from "@satrail/nodes/NodeState"
import { Effect, Option, type Redacted, Result, Schema } from "effect"
import {
  applying,
  type Check,
  type Line,
  messageOf,
  misconfigured,
  outage,
  right,
  warning
} from "../base/Check.ts"
import * as KnownFaults from "./KnownFaults.ts"
import type { KnownHeight } from "./LightningNode.ts"
import * as LndMacaroon from "./LndMacaroon.ts"
import type { Settings } from "./LndSettings.ts"

const Info = Schema.Struct({
  identity_pubkey: Schema.String,
  version: Schema.optionalKey(Schema.String),
  chains: Schema.Array(Schema.Struct({ network: Schema.String })),
  synced_to_chain: Schema.optionalKey(Schema.Boolean),
  synced_to_graph: Schema.optionalKey(Schema.Boolean),
  block_height: Schema.optionalKey(Schema.Int),
  num_active_channels: Schema.optionalKey(Schema.Int),
  num_inactive_channels: Schema.optionalKey(Schema.Int)
})

const isAdmin = (excessive: ReadonlyArray<string>) => excessive.includes("macaroon:generate")

const macaroon = (
  name: string,
  needed: ReadonlyArray<Macaroon.Call>,
  read: Result.Result<LndMacaroon.Usable, string>
): Line => {
  if (Result.isFailure(read)) return misconfigured(read.failure, "See docs/guides/lnd.md for how to bake it.")
  const { excessive } = read.success
  if (excessive.length === 0) return right(`${name} has the required permissions and no others`)
  const what = isAdmin(excessive)
    ? "everything, like an admin macaroon"
    : `more than is needed (${excessive.join(", ")})`
  return warning(
    `${name} allows ${what}, and so would a stolen copy`,
    `Bake one with: ${LndMacaroon.bake(needed)}`
  )
}

const silence = ({ cause, reason, remedy }: NodeUnavailable): Line =>
  (LndOutage.isWrong(reason) ? misconfigured : outage)(
    reason ?? `lnd does not respond: ${messageOf(cause)}`,
    remedy ?? "Check its log."
  )

const node = Effect.fnUntraced(function* (
  { url, acceptVersion }: Settings,
  info: typeof Info.Type,
  { network, known }: { readonly network: Network; readonly known: number | undefined }
) {
  const {
    identity_pubkey,
    version = "of an unknown version",
    chains,
    block_height = 0,
    synced_to_chain: isSynced = true
  } = info
  const behind = yield* Behind.lightning({ height: block_height, isSynced }, known)
  const theirs = chains[0]?.network ?? "no network"
  return applying([
    theirs.replace(/^testnet4$/, "testnet") === network
      ? right(`lnd ${version.split(" ")[0]} at ${url}, ${identity_pubkey.slice(0, 16)}…, on ${theirs}`)
      : misconfigured(
          `lnd at ${url} is on ${theirs}, but SATRAIL_NETWORK is ${network}`,
          "Set both to the same network."
        ),
    ...KnownFaults.lines(Versions.judge("lnd", version), {
      setting: "LND_ACCEPT_VERSION",
      version: acceptVersion
    }),
    behind !== undefined &&
      outage(
        `lnd is ${behind}`,
        "Wait while it is catching up, until `lncli getinfo` has synced_to_chain: true. If its height doesn't change, check its bitcoin node."
      ),
    info.synced_to_graph === false &&
      warning("lnd has not synced the network graph yet: payments may find no route", "Wait a few minutes.")
  ])
})

/**
 * Returns the warnings about channels. Without LND_BOOKS_MACAROON, only the numbers of active and inactive
 * channels are known.
 */
const channelLines = (info: typeof Info.Type, capacity: Capacity | undefined): ReadonlyArray<Line> => {
  const { num_active_channels: active, num_inactive_channels: inactive = 0 } = info
  const counted =
    active === undefined ? undefined : { active, inactive, opening: 0, closing: 0, forceClosing: 0 }
  const known = capacity ?? (counted && { outgoing: Msat.zero, incoming: Msat.zero, channels: counted })
  return (known === undefined ? [] : Channels.judge(known)).map(({ reason, remedy }) =>
    warning(reason, remedy)
  )
}

const look = Effect.fnUntraced(function* (network: Network, settings: Settings, known: KnownHeight) {
  const { url, certificateFile, receiverMacaroon, senderMacaroon, booksMacaroon } = settings
  const given: ReadonlyArray<
    readonly [name: string, needed: ReadonlyArray<Macaroon.Call>, macaroon: Redacted.Redacted | undefined]
  > = [
    [
      "LND_RECEIVER_MACAROON",
      LndMacaroon.receiverCalls("LND_RECEIVER_MACAROON", receiverMacaroon),
      receiverMacaroon
    ],
    ["LND_SENDER_MACAROON", Lnd.senderCalls, senderMacaroon],
    ["LND_BOOKS_MACAROON", LndBooks.calls, booksMacaroon]
  ]
  const looked = yield* Effect.forEach(
    given,
    Effect.fnUntraced(function* ([name, needed, given]) {
      if (given === undefined)
        return {
          lines: [
            warning(
              `${name} is not set: there is no reconciliation with lnd`,
              `Bake one with: ${LndMacaroon.bake(needed)}`
            )
          ]
        }
      const read = LndMacaroon.read(name, given, needed)
      const lines = [macaroon(name, needed, read)]
      if (Result.isFailure(read)) return { lines }
      const names = { url: "LND_REST_URL", certificateFile: "LND_TLS_CERT", macaroon: name }
      const rest = LndRest.make({
        url,
        certificateFile,
        macaroon: read.success.hex,
        names,
        state: NodeState.quiet,
        deadlineMillis: 4000
      })
      const answer = yield* Effect.result(rest.ask("getinfo", LndRest.get("/v1/getinfo"), Info))
      if (Result.isSuccess(answer)) {
        const capacity =
          name === "LND_BOOKS_MACAROON" ? yield* Effect.option(LndBooks.capacity(rest)) : Option.none()
        return { lines, info: answer.success, capacity: Option.getOrUndefined(capacity) }
      }
      const { failure } = answer
      const said =
        failure._tag === "Refused"
          ? outage(`lnd refused to report its identity: ${failure.words}`, "Check its log.")
          : silence(failure)
      return { lines, said }
    }),
    { concurrency: "unbounded" }
  )
  const info = looked.flatMap(({ info }) => info ?? []).at(0)
  const capacity = looked.flatMap(({ capacity }) => capacity ?? []).at(0)
  // Report a problem that isn't specific to one macaroon only once.
  const said = new Map(looked.flatMap(({ said }) => (said === undefined ? [] : [[said.says, said] as const])))
  return [
    ...(info === undefined
      ? []
      : [
          ...(yield* node(settings, info, { network, known: yield* known })),
          ...channelLines(info, capacity)
        ]),
    ...said.values(),
    ...looked.flatMap(({ lines }) => lines)
  ]
})

/** Checks the Lightning node, and the permissions of each macaroon. */
export const check = (network: Network, settings: Settings, known: KnownHeight): Check => ({
  subject: "lnd",
  isWatched: true,
  lines: look(network, settings, known)
})
