import { assert, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/core/BitcoinAddress"
import * as Msat from "@satrail/core/Msat"
import * as Btcd from "@satrail/regtest/Btcd"
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

const Funded = Schema.fromJsonString(Schema.Struct({ companyId: Schema.String, address: Schema.String }))
const Ended = Schema.fromJsonString(
  Schema.Struct({
    status: Schema.String,
    posted: Schema.String,
    held: Schema.String,
    chain: Schema.String,
    holds: Schema.String,
    internal: Schema.String
  })
)

/** Runs a process to its end: what it printed, and the signal that ended it. */
const run = (args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] })
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

Real.suite("C19: a process that is killed while it pays", ["btcd"], () => {
  it.layer(Outside.layer, { excludeTestServices: true })("on a real chain", (it) => {
    for (const [n, fate] of fates.entries()) {
      it.effect(`${fate}: the payout is on the chain once, and the books say what the chain says`, () =>
        Effect.gen(function* () {
          const { url, certificateFile, user, password } = yield* Btcd.Btcd
          const { mine, send } = yield* Outside.Outside
          const directory = path.join(yield* folder, "database")
          const seed = 100 + n
          const common = [directory, url, certificateFile, String(seed)]
          const payee = BitcoinAddress.fromPayload("p2wsh", new Uint8Array(32).fill(seed), "regtest") ?? assert.fail("no address")

          const first = yield* run(["fund", ...common])
          const { companyId, address } = yield* Schema.decodeUnknownEffect(Funded)(first.printed)
          yield* send([{ address, amount: Msat.fromSats(200_000) }])
          yield* mine(2)
          assert.strictEqual((yield* run(["pay", ...common, companyId, payee.address, fate])).signal, "SIGKILL")
          yield* run(["finish", ...common, companyId])
          yield* mine(1)
          const last = yield* run(["finish", ...common, companyId])
          const { status, held, chain, holds, internal } = yield* Schema.decodeUnknownEffect(Ended)(last.printed)
          assert.deepStrictEqual([status, held, holds, internal], ["settled", "0", "0", "0"])
          assert.deepStrictEqual(yield* received(payee.scriptPubKey), [50_000])
          const node = BitcoinRpc.node({ url, certificateFile, user, password, network: "regtest", beginning: { height: 440 } })
          const words = Seed.fromEntropy(new Uint8Array(32).fill(seed))
          const { coins } = yield* Rescan.scan(node, Keys.make(Keys.accountsOf(words, "regtest")), { fromHeight: 440, gap: 60 })
          assert.strictEqual(String(Msat.sum(...coins.map(({ amount }) => amount))), chain)
        })
      )
    }
  })
})
