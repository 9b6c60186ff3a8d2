import * as LndRest from "@satrail/nodes/LndRest"
import { Effect, Redacted, Schema, Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import * as Binaries from "./Binaries.ts"
import { Chain } from "./Chain.ts"
import * as Process from "./Process.ts"

/** A node's addresses and files, as plain data. */
export interface Place {
  readonly name: string
  readonly url: string
  /** The node's address for connections from other nodes. */
  readonly p2p: string
  /** The folder with the node's certificate, key and wallet. */
  readonly folder: string
  readonly certificateFile: string
  readonly macaroonFile: string
  readonly nodeId: string
}

/** Controls a node's process. */
export interface Control {
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void, Process.RegtestFailed>
  /** Restarts the process on the same ports, and waits until it has recovered. */
  readonly start: Effect.Effect<void, Process.RegtestFailed>
  /** Suspends the process with all of its connections until it is resumed. */
  readonly pause: Effect.Effect<void, Process.RegtestFailed>
  readonly resume: Effect.Effect<void, Process.RegtestFailed>
}

/** One of the network's lnd nodes, with its operator's access: the macaroon permits all calls. */
export interface Lnd extends Place, Control {
  readonly rest: LndRest.LndRest
  /** Bakes a macaroon that permits only these calls, and returns it in hex. */
  readonly bake: (uris: ReadonlyArray<string>) => Effect.Effect<Redacted.Redacted, Process.RegtestFailed>
  /** Returns the lines of the node's log that contain this text. */
  readonly logged: (text: string) => string
}

const failed = (name: string) => (error: unknown) => {
  const words =
    error instanceof LndRest.Refused
      ? error.words
      : error instanceof Error
        ? `${error.message} ${String(error.cause ?? "")}`
        : String(error)
  return new Process.RegtestFailed({ message: `${name}: ${words}` })
}

const Info = Schema.Struct({ identity_pubkey: Schema.String, synced_to_chain: Schema.Boolean })

/** Returns the interface of a running node. */
export const of = (place: Place, control: Control): Lnd => {
  const { name, url, certificateFile, macaroonFile } = place
  const rest = LndRest.make({
    url,
    certificateFile,
    macaroon: Redacted.make(readFileSync(macaroonFile, "hex"))
  })
  const Baked = Schema.Struct({ macaroon: Schema.String })
  return {
    ...place,
    ...control,
    rest,
    logged: (text) =>
      readFileSync(path.join(place.folder, "lnd.log"), "utf8")
        .split("\n")
        .filter((line) => line.includes(text))
        .join("\n"),
    bake: (uris) =>
      rest
        .ask(
          "bake",
          LndRest.post("/v1/macaroon", { permissions: uris.map((action) => ({ entity: "uri", action })) }),
          Baked
        )
        .pipe(
          Effect.map(({ macaroon }) => Redacted.make(macaroon)),
          Effect.mapError(failed(name))
        )
  }
}

/** Starts a node with an empty wallet, on the test chain. */
export const make = Effect.fnUntraced(function* (name: string, options: ReadonlyArray<string> = []) {
  const { lndOptions } = yield* Chain
  const command = yield* Binaries.ensure("lnd")
  const folder = yield* Process.folder
  const scope = yield* Effect.scope
  const [restPort, rpcPort, p2pPort] = [
    yield* Process.freePort,
    yield* Process.freePort,
    yield* Process.freePort
  ]
  const certificateFile = path.join(folder, "tls.cert")
  const macaroonFile = path.join(folder, "data/chain/bitcoin/regtest/admin.macaroon")
  const url = `https://127.0.0.1:${restPort}`
  const args = [
    `--lnddir=${folder}`,
    `--alias=${name}`,
    "--bitcoin.regtest",
    ...lndOptions,
    "--bitcoin.defaultchanconfs=1",
    "--noseedbackup",
    "--nobootstrap",
    "--accept-amp",
    `--listen=127.0.0.1:${p2pPort}`,
    `--rpclisten=127.0.0.1:${rpcPort}`,
    `--restlisten=127.0.0.1:${restPort}`,
    "--trickledelay=50",
    "--gossip.sub-batch-delay=5ms",
    "--db.batch-commit-interval=10ms",
    "--debuglevel=info",
    ...options
  ]
  const running = yield* Scope.provide(Process.make({ name: "lnd", command, args, folder }), scope)

  // lnd creates the file before it writes its contents.
  const readAdmin = Effect.sync(
    () => (existsSync(macaroonFile) ? readFileSync(macaroonFile, "hex") : "") || undefined
  )
  const start = Effect.gen(function* () {
    yield* running.start
    const admin = yield* Effect.raceFirst(Process.until(`${name} has a macaroon`, readAdmin), running.died)
    const rest = LndRest.make({ url, certificateFile, macaroon: Redacted.make(admin) })
    const info = Effect.map(rest.ask("info", LndRest.get("/v1/getinfo"), Info), (info) =>
      info.synced_to_chain ? info : undefined
    )
    return (yield* Effect.raceFirst(Process.until(`${name} follows the chain`, info), running.died))
      .identity_pubkey
  })
  const nodeId = yield* start
  const place = { name, url, p2p: `127.0.0.1:${p2pPort}`, folder, certificateFile, macaroonFile, nodeId }
  return of(place, {
    stop: running.stop,
    start: Effect.asVoid(start),
    pause: running.signal("SIGSTOP"),
    resume: running.signal("SIGCONT")
  })
})

/** Calls a node as its owner. */
export const ask = <A, I>(
  node: Lnd,
  request: Parameters<LndRest.LndRest["ask"]>[1],
  answer: Schema.Codec<A, I>
): Effect.Effect<A, Process.RegtestFailed> =>
  Effect.mapError(node.rest.ask("regtest", request, answer), failed(node.name))
