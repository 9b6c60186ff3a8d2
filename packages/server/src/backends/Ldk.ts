import type { Network } from "@satrail/bitcoin/Network"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Behind from "@satrail/core/nodes/Behind"
import * as Channels from "@satrail/core/nodes/Channels"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Ldk from "@satrail/nodes/Ldk"
import * as NodeState from "@satrail/nodes/NodeState"
import { Config, Effect, Layer, Option, Result, Schema } from "effect"
import { type Line, misconfigured, outage, right, warning } from "../base/Check.ts"
import * as Service from "../environment/Service.ts"
import * as Setting from "../environment/Setting.ts"
import * as LdkProgram from "./LdkProgram.ts"
import { config, type Settings, settings } from "./LdkSettings.ts"
import * as LightningNode from "./LightningNode.ts"
import { NodeUnusable } from "./NodeUnusable.ts"

interface Configured extends Settings {
  readonly keeper: LdkProgram.LdkProgram
  readonly network: Network
}

const source = "ldk"
/** The cursor source that records how far the node's store has progressed. */
const seenSource = "ldk seen"

const Mark = Schema.fromJsonString(Schema.Struct({ run: Schema.String, count: Schema.String }))

/**
 * Stores the node's last seen progress in the service's database, which is usually on another machine and never
 * in the node's folder.
 */
const marks = Effect.gen(function* () {
  const [journal, reads] = [yield* Journal, yield* LedgerReads]
  const read = Effect.gen(function* () {
    const kept = Option.getOrUndefined(yield* reads.cursor(seenSource))
    return kept === undefined ? undefined : yield* Schema.decodeEffect(Mark)(kept)
  })
  const write = Effect.fnUntraced(function* (mark: Ldk.Mark) {
    const before = yield* read
    // Another process of the service may have saved later progress.
    if (before?.run === mark.run && BigInt(before.count) >= BigInt(mark.count)) return
    yield* Cursor.store(journal, { source: seenSource, value: Schema.encodeSync(Mark)(mark) })
  })
  return { read, write } satisfies Ldk.Marks
})

const atOf = ({ socket }: Settings) => `LDK at ${socket}`

/** Uses the identified node. Fails if the node's store is older than the last seen state. */
const layer = (
  configured: Configured,
  { nodeId, network }: { readonly nodeId: string; readonly network: Network }
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { socket, invoiceSecret, keeper } = configured
      yield* keeper.kept
      const options = {
        socket,
        identity: { nodeId, network },
        marks: yield* marks,
        invoiceSecret,
        state: NodeState.make("ldk")
      }
      return Layer.catchTag(Ldk.layer(options), "NodeUnavailable", (away: NodeUnavailable) =>
        Layer.effectContext(new NodeUnusable({ message: Outage.text(away) ?? String(away.cause) }))
      )
    })
  )

const look = Effect.fnUntraced(function* (
  network: Network,
  configured: Configured,
  known: LightningNode.KnownHeight
) {
  const asked = yield* Effect.result(Ldk.identity({ socket: configured.socket, deadlineMillis: 4000 }))
  if (Result.isFailure(asked)) {
    const { reason, remedy, cause } = asked.failure
    const here = configured.program === undefined ? "" : " The service starts it."
    return [
      outage(reason ?? String(cause), `${remedy ?? "Check its log."}${here}`)
    ] satisfies ReadonlyArray<Line>
  }
  const { nodeId, network: theirs, version, isStarted, progress } = asked.success
  if (theirs !== network) {
    return [
      misconfigured(
        `${atOf(configured)} is on ${theirs}, but SATRAIL_NETWORK is ${network}`,
        "Set both to the same network."
      )
    ]
  }
  // The node cannot list its channels before the service has started it.
  const capacity = isStarted
    ? yield* Effect.option(Ldk.capacity({ socket: configured.socket, deadlineMillis: 4000 }))
    : Option.none()
  const warnings = Option.match(capacity, { onNone: () => [], onSome: Channels.judge })
  const behind = Option.isNone(progress) ? undefined : yield* Behind.lightning(progress.value, yield* known)
  return [
    right(`${atOf(configured)}, ${version}, ${nodeId.slice(0, 16)}…, on ${theirs}`),
    ...(behind === undefined
      ? []
      : [
          outage(
            `LDK is ${behind}`,
            "Wait while it is catching up. If its height doesn't change, check the bitcoin node or Esplora server that it reads."
          )
        ]),
    ...warnings.map(({ reason, remedy }) => warning(reason, remedy))
  ]
})

export const backend = LightningNode.make({
  name: "ldk",
  title: "LDK",
  prefix: "LDK_",
  settings,
  config: Config.map(
    Setting.all({ read: config, network: Service.identity.network }),
    ({ read, network }): Configured => ({
      ...read,
      network,
      keeper: LdkProgram.make(read, network)
    })
  ),
  identity: (configured) => ({
    source,
    at: atOf(configured),
    setting: "LDK_SOCKET",
    // The node runs on this machine, and its progress must be read from it at each start.
    mayBeAway: () => false,
    ask: Effect.andThen(configured.keeper.ensured, Ldk.identity({ socket: configured.socket })),
    invoiceSecret: configured.invoiceSecret
  }),
  layer,
  checks: (configured, network, known) => [
    { subject: "LDK", isWatched: true, lines: look(network, configured, known) }
  ],
  proof: "real nodes on regtest: all contracts, with lnd as the peer",
  caveats: [
    {
      says: "LDK's channel keys are on the node's machine, and nothing watches the channels while the node is down",
      remedy:
        "Keep in the node only what you can afford to lose, keep it running, and never restore its store from a backup."
    }
  ]
})
