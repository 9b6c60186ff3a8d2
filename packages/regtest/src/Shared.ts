import * as TxId from "@satrail/bitcoin/TxId"
import { Effect, Layer, Redacted, Schema, type Scope } from "effect"
import { createServer } from "node:http"
import * as Lnd from "./Lnd.ts"
import { Network } from "./Network.ts"
import * as Process from "./Process.ts"

// Shares one network among many processes. One process starts the network, and the others use it through the
// functions below.

const names = ["alice", "bob", "carol"] as const
type Name = (typeof names)[number]

/** The addresses that another process needs to use the network, as plain data. */
export interface Place {
  /** The address for actions that only the process that started the network can execute. */
  readonly control: string
  readonly nodes: { readonly [name in Name]: Lnd.Place }
  /**
   * The chain's RPC. The password is not a secret, because the chain is temporary and only reachable from this
   * machine.
   */
  readonly chain: {
    readonly url: string
    readonly user: string
    readonly password: string
    readonly certificateFile: string | undefined
  }
}

const Order = Schema.Union([
  Schema.Struct({
    do: Schema.Literal("stop"),
    node: Schema.Literals(names),
    signal: Schema.Literals(["SIGTERM", "SIGKILL"])
  }),
  Schema.Struct({ do: Schema.Literals(["start", "pause", "resume"]), node: Schema.Literals(names) }),
  Schema.Struct({ do: Schema.Literal("mine"), blocks: Schema.Int }),
  Schema.Struct({ do: Schema.Literal("send"), address: Schema.String, sats: Schema.String }),
  Schema.Struct({ do: Schema.Literal("height") })
])
type Order = typeof Order.Type

const carryOut = (
  network: Network["Service"],
  order: Order
): Effect.Effect<unknown, Process.RegtestFailed> => {
  switch (order.do) {
    case "stop":
      return network[order.node].stop(order.signal)
    case "start":
    case "pause":
    case "resume":
      return network[order.node][order.do]
    case "mine":
      return network.chain.mine(order.blocks)
    case "send":
      return network.chain.send(order.address, BigInt(order.sats))
    case "height":
      return network.chain.height
  }
}

const decodeOrder = Schema.decodeUnknownEffect(Schema.fromJsonString(Order))

/** Executes actions for other processes on this machine until the scope closes. */
export const lend: Effect.Effect<Place, Process.RegtestFailed, Network | Scope.Scope> = Effect.gen(
  function* () {
    const network = yield* Network
    const server = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.once("end", () => {
        const done = Effect.flatMap(decodeOrder(body), (order) => carryOut(network, order))
        Effect.runCallback(done, {
          onExit: (exit) => {
            const answer =
              exit._tag === "Success" ? { result: exit.value ?? null } : { error: String(exit.cause) }
            response.end(JSON.stringify(answer))
          }
        })
      })
    })
    // The server must not close an idle connection while a process that was busy sends its next action on it.
    server.keepAliveTimeout = 0
    const port = yield* Process.freePort
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.close())
    )
    const place = ({
      name,
      url,
      p2p,
      folder,
      certificateFile,
      macaroonFile,
      nodeId
    }: Lnd.Lnd): Lnd.Place => ({
      name,
      url,
      p2p,
      folder,
      certificateFile,
      macaroonFile,
      nodeId
    })
    const { alice, bob, carol, chain } = network
    const { url, user, certificateFile } = chain
    return {
      control: `http://127.0.0.1:${port}`,
      nodes: { alice: place(alice), bob: place(bob), carol: place(carol) },
      chain: { url, user, password: Redacted.value(chain.password), certificateFile }
    }
  }
)

const Answer = Schema.Union([
  Schema.Struct({ result: Schema.Unknown }),
  Schema.Struct({ error: Schema.String })
])

/** Provides a network that another process has started. */
export const layer = ({ control, nodes, chain }: Place): Layer.Layer<Network> =>
  Layer.sync(Network, () => {
    const order = <A>(
      what: Order,
      result: Schema.Codec<A, unknown>
    ): Effect.Effect<A, Process.RegtestFailed> =>
      Effect.tryPromise({
        try: async () => (await fetch(control, { method: "POST", body: JSON.stringify(what) })).json(),
        catch: (cause) => new Process.RegtestFailed({ message: String(cause) })
      }).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Answer)),
        Effect.flatMap((answer) =>
          "error" in answer
            ? Effect.fail(new Process.RegtestFailed({ message: answer.error }))
            : Effect.succeed(answer.result)
        ),
        Effect.flatMap(Schema.decodeUnknownEffect(result)),
        Effect.mapError(({ message }) => new Process.RegtestFailed({ message }))
      )
    const node = (name: Name) =>
      Lnd.of(nodes[name], {
        stop: (signal) => Effect.asVoid(order({ do: "stop", node: name, signal }, Schema.Null)),
        start: Effect.asVoid(order({ do: "start", node: name }, Schema.Null)),
        pause: Effect.asVoid(order({ do: "pause", node: name }, Schema.Null)),
        resume: Effect.asVoid(order({ do: "resume", node: name }, Schema.Null))
      })
    const Hashes = Schema.Array(Schema.String)
    return {
      alice: node("alice"),
      bob: node("bob"),
      carol: node("carol"),
      chain: {
        ...chain,
        password: Redacted.make(chain.password),
        mine: (blocks) => order({ do: "mine", blocks }, Hashes),
        send: (address, sats) => order({ do: "send", address, sats: String(sats) }, TxId.TxId),
        height: order({ do: "height" }, Schema.Int)
      }
    }
  })
