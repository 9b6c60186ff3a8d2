import { assert, it } from "@effect/vitest"
import type { Network as BitcoinNetwork } from "@satrail/bitcoin/Network"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Memory from "@satrail/service/memory/Memory"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndRest from "@satrail/nodes/LndRest"
import * as NodeState from "@satrail/nodes/NodeState"
import * as Binaries from "@satrail/regtest/Binaries"
import type { Lnd as Node } from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Process from "@satrail/regtest/Process"
import * as Proxy from "@satrail/regtest/Proxy"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, References, Result, Schema, Stream } from "effect"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Environment from "../src/deployment/Environment.ts"

const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/** Settings for a node. */
const settingsFor = Effect.fnUntraced(function* (node: Node) {
  return {
    url: node.url,
    certificateFile: node.certificateFile,
    receiverMacaroon: yield* node.bake(uris(Lnd.receiverCalls)),
    senderMacaroon: yield* node.bake(uris(Lnd.senderCalls)),
    invoiceSecret: Redacted.make("of-the-tests-of-a-start-with-lnd")
  } satisfies Settings
})

interface Settings {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly receiverMacaroon: Redacted.Redacted
  readonly senderMacaroon: Redacted.Redacted
  readonly invoiceSecret: Redacted.Redacted
}

/** Starts the service with these settings on the existing store. */
const start = (settings: Settings, network: BitcoinNetwork = "regtest") => {
  const { node } = Result.getOrThrow(
    Environment.read({
      LIGHTNING: "lnd",
      LND_REST_URL: settings.url,
      LND_TLS_CERT: settings.certificateFile,
      LND_RECEIVER_MACAROON: Redacted.value(settings.receiverMacaroon),
      LND_SENDER_MACAROON: Redacted.value(settings.senderMacaroon),
      LND_INVOICE_SECRET: Redacted.value(settings.invoiceSecret)
    })
  )
  return Layer.build(Layer.fresh((node ?? assert.fail("no node was chosen")).layer(network)))
}

/** The error that prevents a start. */
const refusal = (settings: Settings, network?: BitcoinNetwork) =>
  Effect.map(Effect.flip(Effect.scoped(start(settings, network))), (error) =>
    "message" in error ? String(error.message) : ""
  )

const told = <E, R>(check: Effect.Effect<void, E, R>) =>
  Effect.scoped(check).pipe(
    Effect.provide(Layer.fresh(Memory.layer)),
    // Other tests check the messages of a start's warnings.
    Effect.provideService(References.MinimumLogLevel, "None")
  )

Real.suite("a start with lnd", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect("lnd start: a closed port is reported with its address", () =>
      told(
        Effect.gen(function* () {
          const right = yield* settingsFor((yield* Network).alice)
          const url = `https://127.0.0.1:${yield* Process.freePort}`
          const message = yield* refusal({ ...right, url })
          assert.match(
            message,
            /^lnd refuses the connection\. Nothing listens at https:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED/
          )
          assert.include(message, "LND_REST_URL")
        })
      )
    )

    it.effect("lnd start: a wrong or missing certificate is reported", () =>
      told(
        Effect.gen(function* () {
          const { alice, carol } = yield* Network
          const right = yield* settingsFor(alice)
          assert.match(
            yield* refusal({ ...right, certificateFile: carol.certificateFile }),
            /^lnd's TLS certificate does not match\. The certificate at https:.* is not .*tls\.cert/
          )
          assert.match(
            yield* refusal({ ...right, certificateFile: undefined }),
            /set LND_TLS_CERT to lnd's tls\.cert/
          )
          assert.match(
            yield* refusal({ ...right, certificateFile: "/nowhere/tls.cert" }),
            /^lnd's TLS certificate file cannot be read\. ENOENT.* Set LND_TLS_CERT/
          )
        })
      )
    )

    it.effect(
      "lnd start: a macaroon that is malformed, belongs to another node, or lacks permissions is reported",
      () =>
        told(
          Effect.gen(function* () {
            const { alice, carol } = yield* Network
            const [right, carols] = [yield* settingsFor(alice), yield* settingsFor(carol)]
            assert.match(
              yield* refusal({ ...right, receiverMacaroon: carols.receiverMacaroon }),
              /^lnd refuses a macaroon: it is not one of this node's\. .*LND_RECEIVER_MACAROON/
            )
            const little = yield* refusal({ ...right, senderMacaroon: right.receiverMacaroon })
            assert.include(little, "LND_SENDER_MACAROON lacks required permissions")
            assert.include(little, "lncli bakemacaroon uri:/lnrpc.Lightning/GetInfo")
            assert.match(little, /missing: .*SendPaymentV2/)
            assert.match(
              yield* refusal({ ...right, senderMacaroon: Redacted.make("ab".repeat(40)) }),
              /is not an lnd macaroon/
            )
            assert.match(
              yield* refusal({ ...right, senderMacaroon: Redacted.make("/nowhere/sender.macaroon") }),
              /^LND_SENDER_MACAROON cannot be read: \/nowhere\/sender\.macaroon: the file does not exist/
            )
          })
        )
    )

    it.effect("lnd start: a macaroon may be given as a file and may have more permissions than needed", () =>
      told(
        Effect.gen(function* () {
          const { alice } = yield* Network
          const file = Redacted.make(alice.macaroonFile)
          yield* start({ ...(yield* settingsFor(alice)), receiverMacaroon: file, senderMacaroon: file })
        })
      )
    )

    it.effect("lnd start: an lnd on another network is reported", () =>
      told(
        Effect.gen(function* () {
          const right = yield* settingsFor((yield* Network).alice)
          const message = yield* refusal(right, "signet")
          assert.include(message, "is on regtest, but SATRAIL_NETWORK is signet")
        })
      )
    )

    it.effect("lnd start: a database created with another node is reported", () =>
      told(
        Effect.gen(function* () {
          const { alice, carol } = yield* Network
          yield* start(yield* settingsFor(alice))
          const message = yield* refusal(yield* settingsFor(carol))
          assert.include(message, `The database belongs to the node ${alice.nodeId}`)
        })
      )
    )

    it.effect("lnd start: a server other than lnd is reported", () =>
      told(
        Effect.gen(function* () {
          const right = yield* settingsFor((yield* Network).alice)
          // The port for other nodes uses a different protocol.
          assert.match(
            yield* refusal({ ...right, url: `https://${(yield* Network).alice.p2p}` }),
            /the server at lnd's address|does not respond/
          )
        })
      )
    )

    it.effect("lnd start: a locked wallet is reported", () =>
      told(
        Effect.gen(function* () {
          const locked = yield* lockedNode
          const right = yield* settingsFor((yield* Network).alice)
          const message = yield* refusal({ ...right, ...locked })
          assert.match(message, /^lnd is locked\. Unlock its wallet with `lncli unlock`/)
          assert.include(message, locked.url)
          // Once the service has noticed that the node is locked, it rejects a payment without calling lnd.
          const rest = LndRest.make({ ...locked, macaroon: Redacted.make("00") })
          const outage = yield* Effect.flip(
            Stream.runHead(rest.listen("pay", LndRest.post("/v2/router/send", {}), Schema.Unknown))
          )
          assert.instanceOf(outage, NodeState.NotLookedAt)
          assert.strictEqual("reason" in outage && outage.reason, "lnd is locked")
        })
      )
    )

    it.effect(
      "lnd start: the service can start during an outage of a known node, and accepts only that node afterwards",
      () =>
        told(
          Effect.gen(function* () {
            const { alice, carol } = yield* Network
            const proxy = yield* Proxy.make(alice)
            const right = { ...(yield* settingsFor(alice)), url: proxy.url }
            yield* proxy.cut
            assert.match(yield* refusal(right), /^lnd (does not respond|refuses the connection)/)
            yield* proxy.mend
            yield* Effect.scoped(start(right))
            yield* proxy.cut

            const services = yield* start(right)
            const lookup = Effect.flatMap(LightningReceiver, ({ lookupInvoice }) =>
              lookupInvoice(PaymentHash.make("0f".repeat(32)))
            )
            const { nodeId } = yield* Effect.provideContext(LightningReceiver, services)
            assert.strictEqual(nodeId, alice.nodeId)
            assert.strictEqual(
              (yield* Effect.flip(Effect.provideContext(lookup, services)))._tag,
              "NodeUnavailable"
            )
            yield* proxy.mend
            assert.deepStrictEqual(yield* Effect.provideContext(lookup, services), { _tag: "unknown" })

            // The same address, but another node behind it.
            const identity = { nodeId: alice.nodeId, network: "regtest" } as const
            const changed = { ...(yield* settingsFor(carol)), identity }
            const other = yield* Layer.build(
              Lnd.layerSender({ ...changed, macaroon: changed.senderMacaroon })
            )
            const sender = yield* Effect.provideContext(LightningSender, other)
            assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(PaymentHash.make("0f".repeat(32))), {
              _tag: "unknown"
            })
          })
        )
    )
  })
})

/** An lnd whose wallet was created but never unlocked. */
const lockedNode = Effect.gen(function* () {
  const folder = yield* Process.folder
  const command = yield* Binaries.ensure("lnd")
  const [restPort, rpcPort] = [yield* Process.freePort, yield* Process.freePort]
  const args = [
    `--lnddir=${folder}`,
    "--bitcoin.regtest",
    "--bitcoin.node=nochainbackend",
    "--nobootstrap",
    "--nolisten",
    `--rpclisten=127.0.0.1:${rpcPort}`,
    `--restlisten=127.0.0.1:${restPort}`
  ]
  const lnd = yield* Process.make({ name: "locked", command, args, folder })
  const certificateFile = path.join(folder, "tls.cert")
  const url = `https://127.0.0.1:${restPort}`
  const rest = LndRest.make({ url, certificateFile, macaroon: Redacted.make("00") })
  const state = rest.ask("state", LndRest.get("/v1/state"), Schema.Struct({ state: Schema.String }))
  const until = (wanted: string) =>
    Process.until(
      `a wallet that is ${wanted}`,
      Effect.map(state, (seen) => (seen.state === wanted && existsSync(certificateFile) ? true : undefined))
    )
  yield* lnd.start
  yield* until("NON_EXISTING")
  const Seed = Schema.Struct({ cipher_seed_mnemonic: Schema.Array(Schema.String) })
  const { cipher_seed_mnemonic } = yield* rest.ask("seed", LndRest.get("/v1/genseed"), Seed)
  const wallet_password = Buffer.from("a password").toString("base64")
  yield* rest.ask(
    "wallet",
    LndRest.post("/v1/initwallet", { wallet_password, cipher_seed_mnemonic }),
    Schema.Unknown
  )
  yield* lnd.stop("SIGKILL")
  yield* lnd.start
  yield* until("LOCKED")
  return { url, certificateFile }
})
