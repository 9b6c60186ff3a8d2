import { assert, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { Chain } from "@satrail/regtest/Chain"
import * as Real from "@satrail/regtest/Real"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Keys from "../src/Keys.ts"
import * as Rescan from "../src/Rescan.ts"
import * as Seed from "../src/Seed.ts"
import * as Outside from "./Outside.ts"
import { received } from "./Story.ts"

const program = fileURLToPath(new URL("payoutProgram.ts", import.meta.url))

const Funded = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ companyId: Schema.String, address: Schema.String }))
)
const Ended = Schema.fromJsonString(
  Schema.Struct({
    statuses: Schema.Array(Schema.String),
    allowed: Schema.BigIntFromString,
    transactions: Schema.Int,
    held: Schema.Array(Schema.String),
    accounts: Schema.Struct({
      chain: Schema.BigIntFromString,
      held: Schema.BigIntFromString,
      network_fees: Schema.BigIntFromString,
      internal: Schema.BigIntFromString,
      loss: Schema.BigIntFromString
    })
  })
)

/** Runs a process until it exits. Returns its last line of output, and the signal that killed it. */
const run = (args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    // The embedded database runs only for seconds, so compile its machine code fast rather than well. Cache
    // the compiled sources for all runs.
    const child = spawn(process.execPath, ["--liftoff-only", program, ...args], {
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, "../../../node_modules/.cache/node")
      },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const closed = once(child, "close")
    const printed = await text(child.stdout)
    await closed
    return { printed: printed.trim().split("\n").at(-1) ?? "", signal: child.signalCode }
  })

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "killed-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const fates = ["select", "sign", "commit", "broadcast"].flatMap((step) => [`before ${step}`, `after ${step}`])

Real.suite("a process that is killed while it pays", ["btcd"], () => {
  it.layer(Outside.layer, { excludeTestServices: true })("on a real chain", (it) => {
    for (const [n, fate] of fates.entries()) {
      it.effect(
        `C19: crash: ${fate}: each of three payouts by two companies is on the chain once, and the books match the chain`,
        () =>
          Effect.gen(function* () {
            const { url, certificateFile, user, password } = yield* Chain
            const { mine, send } = yield* Outside.Outside
            const directory = path.join(yield* folder, "database")
            const seed = 100 + n
            const common = [directory, url, certificateFile ?? "", String(seed)]
            const payees = [0, 1, 2].map((place) => {
              const payload = new Uint8Array(32).fill(seed).fill(place, 0, 1)
              return BitcoinAddress.fromPayload("p2wsh", payload, "regtest") ?? assert.fail("no address")
            })

            const funded = yield* Schema.decodeUnknownEffect(Funded)(
              (yield* run(["fund", ...common])).printed
            )
            yield* send(funded.map(({ address }) => ({ address, amount: Msat.fromSats(200_000) })))
            yield* mine(2)
            const companies = funded.map(({ companyId }) => companyId).join(",")
            const destinations = payees.map(({ address }) => address).join(",")
            assert.strictEqual(
              (yield* run(["pay", ...common, companies, destinations, fate])).signal,
              "SIGKILL"
            )
            yield* run(["finish", ...common, companies])
            yield* mine(1)
            const last = yield* run(["finish", ...common, companies])
            const { statuses, transactions, held, allowed, accounts } = yield* Schema.decodeUnknownEffect(
              Ended
            )(last.printed)
            assert.deepStrictEqual(
              [statuses, transactions, held],
              [["settled", "settled", "settled"], 1, ["0", "0"]]
            )
            assert.deepStrictEqual([accounts.held, accounts.internal, accounts.loss], [0n, 0n, 0n])
            assert.deepStrictEqual(
              yield* received(...payees.map(({ scriptPubKey }) => scriptPubKey)),
              [50_000, 50_000, 50_000]
            )
            const node = BitcoinRpc.node({
              url,
              certificateFile,
              user,
              password,
              network: "regtest",
              beginning: { height: 440 }
            })
            const words = Seed.fromEntropy(new Uint8Array(32).fill(seed))
            const { coins } = yield* Rescan.scan(node, Keys.make(Keys.accountsOf(words, "regtest")), {
              fromHeight: 440,
              gap: 60
            })
            const left = Msat.sum(...coins.map(({ amount }) => amount))
            assert.strictEqual(left, -accounts.chain)
            // The operator keeps the part of the held mining fees that miners did not receive.
            const fee = Msat.fromSats(400_000 - 3 * 50_000) - left
            assert.isTrue(fee > 0n)
            assert.strictEqual(accounts.network_fees, allowed - fee)
          })
      )
    }
  })
})
