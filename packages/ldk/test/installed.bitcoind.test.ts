// Installs satrail and @satrail/ldk from a release, as a user without Go would, and receives a payment.
import { assert, it } from "@effect/vitest"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Ldk from "@satrail/regtest/Ldk"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, Schema } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, renameSync, statSync } from "node:fs"
import path from "node:path"
import { createInterface } from "node:readline"
import { natives } from "../../../scripts/release/Native.ts"
import { files, hasRegistry, install, pack } from "../../../test/packed.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

if (!hasRegistry) console.log("ldk: skipped, because no package registry can be reached")

const own = natives.filter(({ name }) => name === `@satrail/ldk-${process.platform}-${process.arch}`)

/** Installs the tarballs into an empty folder. */
const installed = async (folder: string): Promise<string> => {
  const tarballs = await pack(folder, own)
  const host = path.join(folder, "host")
  const ldk = ["@satrail/ldk", ...own.map(({ name }) => name)].map((name) => [
    name,
    `file:${tarballs.get(name)}`
  ])
  install(host, { ...files(tarballs), ...Object.fromEntries(ldk) })
  copyFileSync(path.join(import.meta.dirname, "shop.mjs"), path.join(host, "shop.mjs"))
  return host
}

/** Starts the shop with an empty home directory and an empty PATH. */
const start = (host: string, env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, ["shop.mjs"], {
    cwd: host,
    env: { ...env, PATH: path.join(host, "bin"), HOME: path.join(host, "home") }
  })
  const lines: Array<string> = []
  let said = ""
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line))
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text))
  const ended = once(child, "exit")
  return {
    child,
    ended: async () => ({ code: (await ended)[0], said }),
    /** Waits for the next line of output with this field, and returns it. */
    next: (field: string) =>
      Process.until(
        `a line with ${field}`,
        Effect.sync(() => {
          assert.isNull(child.exitCode, said)
          const at = lines.findIndex((line) => field in JSON.parse(line))
          return at < 0 ? undefined : String(JSON.parse(lines.splice(at, 1)[0] ?? "")[field])
        })
      )
  }
}

Real.suite("the packages of LDK", ["bitcoind", "lnd"], () => {
  it.layer(network, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!hasRegistry || own.length === 0)(
      "ldk package: installed without Go, the package starts a node that gets paid, restarts that node after a crash, and stops it",
      () =>
        Effect.gen(function* () {
          const [{ bob, carol }, { url, user, password }] = [yield* Network.Network, yield* Chain]
          const host = yield* Effect.flatMap(Process.folder, (folder) =>
            Effect.promise(() => installed(folder))
          )
          const bitcoind = Object.assign(new URL(url), {
            username: user,
            password: Redacted.value(password)
          }).href
          const listen = `127.0.0.1:${yield* Process.freePort}`
          const env = {
            BITCOIND: bitcoind,
            LISTEN: listen,
            SATRAIL_SECRET: "of-the-test-of-the-ldk-package-alone"
          }
          const shop = start(host, env)
          yield* Effect.addFinalizer(() => Effect.sync(() => shop.child.kill("SIGKILL")))
          yield* shop.next("ready")
          const store = path.join(host, "node")
          const node = { name: "shop", ask: Ldk.asking(path.join(store, "socket")) }
          assert.strictEqual(statSync(path.join(store, "socket")).mode & 0o777, 0o600)

          const invoice = (sats: number) => {
            shop.child.stdin.write(`${sats}\n`)
            return shop.next("paymentRequest")
          }
          yield* LdkNetwork.open(node, bob)
          const request = yield* invoice(50_000)
          yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, request), true), 60)
          assert.strictEqual(yield* shop.next("available"), "50000")

          const first = Ldk.ownerOf(store) ?? assert.fail("nobody has the store")
          process.kill(first, "SIGKILL")
          const restarted = Effect.map(
            node.ask("hello", {}, Schema.Struct({ started: Schema.Boolean })),
            ({ started }) => started || undefined
          )
          yield* Process.until(
            "the node is back",
            Effect.sync(() => (Ldk.ownerOf(store) ?? first) !== first || undefined)
          )
          yield* Process.until("the service uses it again", restarted)
          assert.match(yield* invoice(7000), /^lnbcrt70u1/)

          const bin = path.join(host, "node_modules/@satrail/ldk/dist/bin.js")
          const called = execFileSync(process.execPath, [bin, "call", "hello"], {
            encoding: "utf8",
            env: { LDK_STORE: store }
          })
          assert.match(JSON.parse(called).result.node, /^0[23][\da-f]{64}$/)

          shop.child.stdin.end()
          const { code, said } = yield* Effect.promise(shop.ended)
          assert.strictEqual(code, 0, said)
          assert.isUndefined(Ldk.ownerOf(store))

          const modules = path.join(host, "node_modules")
          for (const { name } of own) renameSync(path.join(modules, name), path.join(modules, `${name}-away`))
          const without = yield* Effect.promise(start(host, env).ended)
          assert.notStrictEqual(without.code, 0)
          assert.match(
            without.said,
            /ProgramMissing: @satrail\/ldk-linux-\w+ is not installed: run npm install/
          )
        }),
      3_600_000
    )
  })
})
