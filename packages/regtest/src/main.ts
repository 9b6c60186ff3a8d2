import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import { Console, Effect, Layer, Redacted, Result, Stream } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import path from "node:path"
import { createInterface } from "node:readline"
import * as Binaries from "./Binaries.ts"
import * as Keeper from "./Keeper.ts"
import type { Lnd as Node } from "./Lnd.ts"
import * as Network from "./Network.ts"
import * as Peer from "./Peer.ts"
import * as Process from "./Process.ts"

// Runs the network and the service on it for interactive use. All files are removed at the end.

const server = path.resolve(import.meta.dirname, "../../server/src/main.ts")

const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/** Runs the service with alice's node. The service's output goes to this terminal. */
const serve = Effect.fnUntraced(function* (alice: Node) {
  const folder = yield* Process.folder
  const save = (name: string, macaroon: Redacted.Redacted) =>
    Effect.sync(() => {
      const file = path.join(folder, `${name}.macaroon`)
      writeFileSync(file, Buffer.from(Redacted.value(macaroon), "hex"), { mode: 0o600 })
      return file
    })
  const env = {
    PORT: "8080",
    SATRAIL_LOG_LEVEL: "warn",
    SATRAIL_LOG_FORMAT: "pretty",
    SATRAIL_DEMO: "yes",
    RATES: "fixed", // don't request exchange rates from external servers for play money
    SATRAIL_RECONCILE_SECONDS: "10", // reconcile often, because a user is waiting
    ...process.env,
    SATRAIL_DATA: path.join(folder, "data"),
    LIGHTNING: "lnd",
    LND_REST_URL: alice.url,
    LND_TLS_CERT: alice.certificateFile,
    LND_RECEIVER_MACAROON: yield* save("receiver", yield* alice.bake(uris(Lnd.receiverCalls))),
    LND_SENDER_MACAROON: yield* save("sender", yield* alice.bake(uris(Lnd.senderCalls))),
    LND_BOOKS_MACAROON: yield* save("books", yield* alice.bake(uris(LndBooks.calls))),
    LND_INVOICE_SECRET: "of-a-network-that-is-gone-in-a-while"
  }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [server], { env, stdio: ["ignore", "inherit", "inherit"] })),
    (child) =>
      Effect.promise(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const exited = once(child, "exit")
        child.kill("SIGTERM")
        await exited
      })
  )
  if (child.pid !== undefined) Keeper.keepProcess(child.pid)
  return {
    data: env.SATRAIL_DATA,
    ended: Effect.callback<void>((resume) => void child.once("exit", () => resume(Effect.void)))
  }
})

const help = (data: string) => `
carol plays everyone else on this network. Commands:
  pay INVOICE              carol pays your invoice
  invoice SATS             prints an invoice of carol's, to which you can withdraw
  hold SATS                prints an invoice whose payment carol holds, and its HASH
  settle HASH | fail HASH  settles or fails a held payment
  balance                  prints our node's channel balance, in msat
The service reconciles its ledger with lnd every ten seconds. See the result in another terminal:
  SATRAIL_DATA=${data} npm run satrail -- reconcile
Ctrl-C stops everything and removes all files.
`

/** Executes one line of input and returns the output. */
const obey = (
  { alice, carol }: Network.Network["Service"],
  line: string,
  help: string
): Effect.Effect<string, Process.RegtestFailed> => {
  const [word = "", argument = ""] = line.trim().split(/\s+/)
  const amount = /^[1-9]\d{0,8}$/.test(argument) ? Msat.fromSats(BigInt(argument)) : undefined
  switch (word) {
    case "pay":
      return Effect.as(Peer.pay(carol, argument), "paid")
    case "invoice":
    case "hold":
      if (amount === undefined) return Effect.succeed("Give a whole number of sats.")
      return Effect.map(
        Peer.invoice(carol, { amount, behaviour: word === "hold" ? "hold" : "settle" }),
        (invoice) =>
          word === "hold"
            ? `${invoice}\nHASH ${Result.getOrThrow(Bolt11.decode(invoice)).paymentHash}`
            : invoice
      )
    case "settle":
    case "fail":
      return Effect.as(Peer.release(carol, PaymentHash.make(argument), word), "done")
    case "balance":
      return Effect.map(Peer.balance(alice), String)
    default:
      return Effect.succeed(help)
  }
}

/** Executes lines in order. Continues to run after the end of the input, until the program is terminated. */
const play = (network: Network.Network["Service"], help: string) =>
  Stream.fromAsyncIterable(createInterface({ input: process.stdin }), String).pipe(
    Stream.filter((line) => line.trim() !== ""),
    Stream.runForEach((line) =>
      Effect.suspend(() => obey(network, line, help)).pipe(
        // A typo in an invoice must not stop the program.
        Effect.catchDefect((defect) => Effect.succeed(String(defect))),
        Effect.matchEffect({ onFailure: ({ message }) => Console.error(message), onSuccess: Console.log })
      )
    ),
    Effect.andThen(Effect.never)
  )

const program = Effect.gen(function* () {
  const missing = Binaries.missing(["btcd", "lnd"])
  if (missing !== undefined) return yield* new Process.RegtestFailed({ message: missing })
  yield* Console.error("starting a chain and three Lightning nodes …")
  const network = yield* Network.Network
  const { data, ended } = yield* serve(network.alice)
  yield* Console.log(help(data))
  yield* Effect.raceFirst(ended, play(network, help(data)))
})

const exit = await new Promise<number>((resolve) => {
  const stop = Effect.runCallback(Effect.scoped(Effect.provide(program, Network.layer.pipe(Layer.fresh))), {
    onExit: (exit) => {
      if (exit._tag === "Failure" && !stopped) console.error(String(exit.cause))
      resolve(exit._tag === "Success" || stopped ? 0 : 1)
    }
  })
  let stopped = false
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      stopped = true
      stop()
    })
  }
})
process.exit(exit)
