import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { boundPort } from "@satrail/testing/boundPort"
import { freePort } from "@satrail/testing/freePort"
import { eventually } from "@satrail/testing/Waiting"
import { Effect, Redacted } from "effect"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import path from "node:path"
import * as Build from "./Build.ts"
import * as Caddy from "./Caddy.ts"
import * as Guide from "./Guide.ts"
import { environmentOf, make as makeMachine, type Running } from "./Machine.ts"
import type { Public } from "./Public.ts"

export const processes = ["1", "2", "3"]
/**
 * How many invoices per minute each process issues to one caller's wallets. The limit is low so that a test can
 * reach it.
 */
export const perCaller = 4
/**
 * The lifetime of a killed process's claims: twice the longest time for which the process's call to lnd may be
 * in flight.
 */
const claimMillis = 121_000

/** Passwords are required, as on a real machine. The superuser has none and is trusted. */
const hba = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"

/** you@wallet.example: an external wallet whose invoices are carol's (LUD-16, LUD-06). */
const walletOf = (carol: Network["Service"]["carol"]) =>
  createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://wallet.example")
    const answer = (said: object) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(said))
    if (pathname !== "/callback") {
      const metadata = '[["text/plain","you"]]'
      answer({
        tag: "payRequest",
        callback: "https://wallet.example/callback",
        minSendable: 1000,
        maxSendable: 1e9,
        metadata
      })
      return
    }
    const amount = Msat.make(BigInt(searchParams.get("amount") ?? 0))
    void Effect.runPromise(Peer.invoice(carol, { amount, behaviour: "settle" })).then((pr) =>
      answer({ pr, routes: [] })
    )
  }).listen(0, "127.0.0.1")

/** Sets up the topology of deploy/ on this machine by following the guide step by step. */
export const make = async (
  { alice, carol, chain }: Network["Service"],
  installation: PostgresServer.Installation,
  command: string,
  ends: Array<() => unknown>
) => {
  const [internal, http, https] = await Promise.all([freePort(), freePort(), freePort()])
  const portsOwn = new Map(
    await Promise.all(processes.map(async (name) => [name, String(await freePort())] as const))
  )
  const inside = `http://127.0.0.1:${internal}`
  const wallet = walletOf(carol)
  ends.push(() => wallet.close())
  const walletPort = await boundPort(wallet)

  const database = async () => {
    const server = await PostgresServer.start(installation, { files: { "pg_hba.conf": hba } })
    ends.push(() => server.end())
    return server
  }
  const first = await database()

  const machine = makeMachine(
    {
      PATH: `${installation.folder}:${process.env["PATH"] ?? ""}`,
      LANG: "C",
      CI: "true",
      npm_config_prefer_offline: "true",
      PGHOST: "127.0.0.1",
      PGPORT: String(first.port),
      PGUSER: "postgres",
      LND_URL: alice.url,
      LND_CERT: alice.certificateFile,
      LND_ADMIN: alice.macaroonFile
    },
    [
      // The dependencies are already installed.
      ["npx -y pnpm@12.21.0 install --frozen-lockfile\n", ""],
      ["@127.0.0.1/satrail", `@127.0.0.1:${first.port}/satrail`],
      ["/var/lib/lnd/tls.cert", alice.certificateFile],
      ["--network mainnet", "--network regtest"],
      ["https://pay.example.com", `https://${Caddy.host}:${https}`],
      ["http://127.0.0.1:8080", inside],
      ...processes.map((name): readonly [string, string] => [
        `127.0.0.1:808${name}`,
        `127.0.0.1:${portsOwn.get(name)}`
      ])
    ]
  )
  ends.push(machine.end, () => rmSync(machine.home, { recursive: true, force: true, maxRetries: 5 }))
  const settings = machine.at("etc/satrail/satrail.env")

  // ---- the guide

  const blocks = Guide.blocks()
  const stepsOf = (number: number): ReadonlyArray<Guide.Block> =>
    blocks.filter(({ step }) => step.startsWith(`${number}. `))
  /** Runs a block of the guide and checks that it prints what the guide shows. */
  const follow = async (block: Guide.Block | undefined, change = (text: string) => text): Promise<string> => {
    if (block === undefined) return assert.fail("the guide has no such block")
    const printed = await machine.sh(change(block.text))
    const shown = printed.replaceAll(`https://${Caddy.host}:${https}`, "https://pay.example.com")
    if (block.output !== undefined)
      assert.isTrue(Guide.isPrinted(block.output, shown), `${block.text}\nprinted\n${printed}`)
    return printed
  }
  const followAll = async (number: number): Promise<void> => {
    const all = stepsOf(number)
    assert.isNotEmpty(all, `the guide has no step ${number}`)
    for (const block of all) await follow(block)
  }

  // ---- the processes

  const running = new Map<string, Running>()
  const begun: Array<Running> = []
  ends.push(async () => {
    for (const one of begun) one.kill("SIGKILL")
    await Promise.all(begun.map(({ ended }) => ended))
  })
  const clock = {
    NODE_OPTIONS: `--import=${path.resolve(import.meta.dirname, "../Later.ts")}`,
    CLOCK_FILE: machine.at("clock")
  }
  let aheadMillis = 0
  const start = (name: string, app?: string): void => {
    const one = machine.start("satrail@.service", name, { PORT: portsOwn.get(name) ?? "", ...clock }, app)
    running.set(name, one)
    begun.push(one)
  }
  /** The status of `/readyz`, or undefined if the process does not listen or respond yet. */
  const readiness = async (name: string): Promise<number | undefined> => {
    const asking = fetch(`http://127.0.0.1:${portsOwn.get(name)}/readyz`, {
      signal: AbortSignal.timeout(5000)
    })
    return (await asking.catch(() => undefined))?.status
  }
  const ready = (name: string) =>
    eventually(
      `process ${name} is ready`,
      async () =>
        running.get(name)?.isOver() === true ? assert.fail(running.get(name)?.said()) : readiness(name),
      (status) => status === 200
    )
  /** Stops a process and waits for its exit, which must be clean after SIGTERM. */
  const stop = async (name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    const one = running.get(name) ?? assert.fail(`process ${name} does not run`)
    one.kill(signal)
    assert.strictEqual(await one.ended, signal === "SIGTERM" ? 0 : signal, one.said())
  }

  /** Moves every clock ahead by the length of a claim. */
  const overslept = (): void => {
    writeFileSync(`${clock.CLOCK_FILE}.next`, String((aheadMillis += claimMillis)))
    renameSync(`${clock.CLOCK_FILE}.next`, clock.CLOCK_FILE)
  }

  /** Edits the settings as the guide describes, with the values of this network. */
  const edit = (): void => {
    const changes: ReadonlyArray<readonly [RegExp | string, string]> = [
      [/\/etc\/satrail\//g, machine.at("etc/satrail/")],
      ["SATRAIL_NETWORK=mainnet", "SATRAIL_NETWORK=regtest"],
      ["SATRAIL_DOMAIN=pay.example.com", `SATRAIL_DOMAIN=${Caddy.host}`],
      ["LND_REST_URL=https://127.0.0.1:8090", `LND_REST_URL=${alice.url}`],
      ["BITCOIN_RPC_URL=http://127.0.0.1:8332", `BITCOIN_RPC_URL=${chain.url}`],
      ["BITCOIN_RPC_USER=satrail", `BITCOIN_RPC_USER=${chain.user}`],
      ["#BITCOIN_RPC_PASSWORD=", `BITCOIN_RPC_PASSWORD=${Redacted.value(chain.password)}`],
      [/^#CHAIN_TLS_CERT=.*$/m, `CHAIN_TLS_CERT=${chain.certificateFile}`],
      [/^#SATRAIL_LNURL_PER_CALLER=.*$/m, `SATRAIL_LNURL_PER_CALLER=${perCaller}`],
      // The proxy may be slow on a busy machine.
      [/^SATRAIL_DRAIN_SECONDS=.*$/m, "SATRAIL_DRAIN_SECONDS=5"]
    ]
    let text = readFileSync(settings, "utf8")
    for (const [from, to] of changes) {
      assert.isTrue(typeof from === "string" ? text.includes(from) : text.search(from) >= 0, String(from))
      text = text.replace(from, to)
    }
    writeFileSync(
      settings,
      `${text}RATES=fixed\nSATRAIL_OUTBOUND_ALLOW=wallet.example=http://127.0.0.1:${walletPort}\n`
    )
  }

  /** Steps 1 to 5. Two processes run the previous version, so that the new version runs beside them. */
  const install = async (): Promise<void> => {
    await followAll(1)
    const earlier = Build.before(machine.home) ?? Build.copy(machine.at("opt/satrail"), machine.home)
    await followAll(2)
    await followAll(3)
    const [secrets, seed] = stepsOf(4)
    await follow(secrets)
    edit()
    assert.match(await follow(seed), /^ +1 {2}[a-z]+\n[^]*^ +24 {2}[a-z]+\n/m)
    await machine.sh(
      `sudo -u satrail node --env-file=/etc/satrail/migration.env --conditions=compiled ${earlier}/dist/cli.js migrate`
    )
    await machine.sh("cp deploy/satrail@.service /etc/systemd/system/")
    for (const name of processes.slice(1)) start(name, earlier)
    for (const name of processes.slice(1)) await ready(name)
    await followAll(5)
    assert.deepStrictEqual(machine.systemctl(), [
      "daemon-reload",
      "enable --now satrail@1 satrail@2 satrail@3"
    ])
    start("1")
    await ready("1")
  }

  /** Step 6: starts the proxy like Debian's unit, with the environment from the guide. */
  const publish = async (): Promise<Public> => {
    const [proxy, ...looks] = stepsOf(6)
    await follow(proxy)
    assert.include(machine.systemctl(), "restart caddy")
    const dropIn = readFileSync(machine.at("etc/systemd/system/caddy.service.d/satrail.conf"), "utf8")
    const file = /^EnvironmentFile=(.*)$/m.exec(dropIn)?.[1] ?? assert.fail(dropIn)
    const { running, to } = await Caddy.start({
      command,
      config: machine.at("etc/caddy/Caddyfile"),
      home: machine.home,
      ports: { http, https, internal },
      env: environmentOf(readFileSync(file, "utf8"))
    })
    begun.push(running)
    await machine.sh(`export CURL_CA_BUNDLE=${to.authority}`)
    assert.isNotEmpty(looks)
    for (const look of looks) await follow(look)
    return to
  }

  /** The end of step 10, on a new machine with /etc/satrail, a dump and an empty SATRAIL_DATA. */
  const restore = async (): Promise<void> => {
    const [dump, restored] = stepsOf(10)
    await follow(dump)
    await Promise.all(processes.map((name) => stop(name, "SIGTERM")))
    await first.stop("immediate")
    const second = await database()
    rmSync(machine.at("var/lib/satrail"), { recursive: true })
    for (const name of ["satrail", "migration", "application", "reader"]) {
      const file = machine.at(`etc/satrail/${name}.env`)
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(`:${first.port}/`, `:${second.port}/`))
    }
    await machine.sh(`export PGPORT=${second.port}`)
    await followAll(2)
    await follow(restored)
    for (const name of processes) start(name)
    for (const name of processes) await ready(name)
  }

  return {
    install,
    publish,
    restore,
    stepsOf,
    follow,
    followAll,
    sh: machine.sh,
    start,
    stop,
    overslept,
    ready,
    readiness,
    inside,
    token: (): string =>
      environmentOf(readFileSync(settings, "utf8"))["SATRAIL_OPERATOR_TOKEN"] ?? assert.fail("no token"),
    said: () => begun.map((one) => one.said().slice(-4000)).join("\n")
  }
}
export type Deployment = Awaited<ReturnType<typeof make>>
