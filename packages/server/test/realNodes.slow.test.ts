import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Keys from "@satrail/chain/Keys"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Redacted } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import * as Esplora from "./fake/Esplora.ts"
import type * as Http from "./fake/Http.ts"
import * as Lnd from "./fake/Lnd.ts"
import * as Service from "./Service.ts"
import { version } from "../src/base/Version.ts"

const installation = PostgresServer.find()
const token = "an-operator-s-token-of-32-characters"

describe.skipIf("missing" in installation)(
  "processes on real nodes and one database (skipped where there is no PostgreSQL)",
  () => {
    if ("missing" in installation) return
    const home = Service.directory()
    let postgres: PostgresServer.PostgresServer
    let nodes: ReadonlyArray<Http.Server> = []
    let env: Record<string, string> = {}
    const running = new Set<Service.Running>()

    beforeAll(async () => {
      postgres = await PostgresServer.start(installation)
      const [lnd, chain] = await Promise.all([Lnd.make(), Esplora.make()])
      nodes = [lnd, chain]
      const words = Seed.fromEntropy(new Uint8Array(32).fill(7))
      const wallet = path.join(home, "wallet.json")
      const accounts = Keys.accountsOf(words, "regtest")
      await Effect.runPromise(
        WalletFile.write(wallet, { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: null })
      )
      env = {
        PORT: "0",
        DATABASE_URL: postgres.url,
        ...Lnd.environment(lnd.url),
        CHAIN: "esplora",
        ESPLORA_URL: chain.url,
        CHAIN_WALLET: wallet,
        CHAIN_SEED: Redacted.value(words),
        RATES: "fixed",
        SATRAIL_OPERATOR_TOKEN: token
      }
    })
    afterEach(async () => {
      for (const one of running) one.kill("SIGKILL")
      await Promise.all([...running].map(({ ended }) => ended))
      running.clear()
    })
    afterAll(async () => {
      await Promise.all([postgres.end(), ...nodes.map(({ close }) => close())])
      rmSync(home, { recursive: true, force: true })
    })

    const dataOf = (name: string) => path.join(home, name)
    const databaseOf = (name: string) => {
      Client.run(installation, "psql", [
        "--no-psqlrc",
        "--quiet",
        `--command=create database ${name}`,
        postgres.url
      ])
      return postgres.url.replace(/[^/]+$/, name)
    }

    const launch = async (name: string, more: Record<string, string> = {}) => {
      const started = Service.run("main", [], { ...env, SATRAIL_DATA: dataOf(name), ...more })
      running.add(started)
      const said = await Service.eventually(
        `a start of ${name}`,
        async () => (started.isOver() ? started.stderr() : started.stdout()),
        (text) => started.isOver() || text.includes("Ctrl-C")
      )
      return { running: started, said }
    }

    /** Starts a process with its own directory and waits until it is ready. */
    const start = async (name: string, more: Record<string, string> = {}) => {
      const { running, said } = await launch(name, more)
      const url =
        /running at (http:\S+),/.exec(said)?.[1] ?? assert.fail(`the process did not start: ${said}`)
      await Service.eventually(
        `readiness of ${name}`,
        () => Service.send(`${url}/readyz`, "GET", {}),
        ({ status }) => status === 200
      )
      return { url, running }
    }

    /** Sends requests with a new company's key. */
    const customer = async (url: string) => {
      const { data: company } = await Service.send(`${url}/operator/companies`, "POST", {
        key: token,
        body: { name: "Shop", plan: "paid" }
      })
      const issued = await Service.send(`${url}/operator/companies/${company.id}/api-keys`, "POST", {
        key: token,
        body: { name: "till", scopes: ["admin"] }
      })
      return (method: string, route: string, body?: unknown) =>
        Service.send(url + route, method, { key: route === "/sandbox/reset" ? token : issued.data.key, body })
    }
    const commands = {
      "/sandbox/pay": { payment_request: "lnbcrt1" },
      "/sandbox/release": { payment_hash: "00".repeat(32), outcome: "fail" },
      "/sandbox/destination": { type: "lightning_invoice", amount_sats: 1000 },
      "/sandbox/send": { address: "bcrt1", amount_sats: 1000 },
      "/sandbox/mine": { blocks: 1 },
      "/sandbox/reorg": { depth: 1 },
      "/sandbox/fee-rate": { sats_per_virtual_byte: 2 },
      "/sandbox/txt": { name: "shop.example", value: "a" },
      "/sandbox/clock": { advance_seconds: 60 },
      "/sandbox/reset": { sandbox: "any" }
    }
    const faults = ["node", "chain", "web", "rates", "database"]
    const statuses = async (url: string): Promise<Record<string, number>> => {
      const ask = await customer(url)
      const found: Record<string, number> = {}
      for (const [route, body] of Object.entries(commands))
        found[route] = (await ask("POST", route, body)).status
      for (const what of faults) {
        found[`begin ${what}`] = (await ask("POST", "/sandbox/fault", { what, for_seconds: 3600 })).status
        found[`end ${what}`] = (await ask("DELETE", `/sandbox/fault/${what}`)).status
      }
      return found
    }
    /** The routes that every sandbox has. */
    const shared = {
      world: ["GET", "/sandbox/world"],
      inbox: ["GET", "/sandbox/webhooks/orders"],
      receive: ["POST", "/sandbox/webhooks/orders"]
    } as const
    const sharedStatuses = async (url: string) => {
      const ask = await customer(url)
      return Promise.all(
        Object.values(shared).map(async ([method, route]) => (await ask(method, route)).status)
      )
    }

    it("deployment: three processes with their own directories start on one database", async () => {
      const urls = await Promise.all(["a", "b", "c"].map((name) => start(name)))
      assert.lengthOf(new Set(urls.map(({ url }) => url)), 3)
    })

    it("deployment: a service whose data directory was lost can start again", async () => {
      const { running: first } = await start("lost")
      first.kill("SIGTERM")
      assert.strictEqual((await first.ended).code, 0)
      rmSync(dataOf("lost"), { recursive: true })
      await start("lost")
    })

    it("sandbox: with real nodes, no sandbox is started, served or documented", async () => {
      const { url } = await start("bare")
      assert.isFalse(existsSync(path.join(dataOf("bare"), "sandbox")), "no sandbox was started")
      assert.deepStrictEqual(
        [...new Set([...Object.values(await statuses(url)), ...(await sharedStatuses(url))])],
        [404]
      )
      const { paths } = JSON.parse((await Service.send(`${url}/openapi.json`, "GET", {})).text)
      assert.isEmpty(Object.keys(paths).filter((route) => route.startsWith("/sandbox")))
      assert.property(paths, "/v1/transactions")
    })

    it("demo: with real nodes, no demo company is created, and no key or token is printed or stored", async () => {
      const { running: started, url } = await start("undemonstrated", {
        DATABASE_URL: databaseOf("undemonstrated")
      })
      assert.deepStrictEqual(readdirSync(dataOf("undemonstrated")), ["lock"])
      assert.strictEqual(statSync(dataOf("undemonstrated")).mode & 0o777, 0o700)
      for (const secret of [token, "sr_regtest_", "op_"]) assert.notInclude(started.stdout(), secret)
      assert.include(started.stdout(), "operator token  SATRAIL_OPERATOR_TOKEN")
      const listed = await Service.send(`${url}/operator/companies`, "POST", {
        key: token,
        body: { name: "First", plan: "paid" }
      })
      assert.strictEqual(listed.status, 201)
    })

    it("demo: if enabled with real nodes, the demo key is not printed, and its file is readable only by the file's owner", async () => {
      const { running: started } = await start("asked", { SATRAIL_DEMO: "yes" })
      const file = path.join(dataOf("asked"), "demo.json")
      const demo: Record<string, string> = JSON.parse(readFileSync(file, "utf8"))
      assert.sameMembers(Object.keys(demo), ["base_url", "api_key", "company_id"])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.notInclude(started.stdout(), demo["api_key"] ?? "")
      assert.include(started.stdout(), file)
    })

    it("operator token: with real nodes and no token, operator routes stay closed, and this is logged at startup", async () => {
      const { running: started, url } = await start("closed", { SATRAIL_OPERATOR_TOKEN: "" })
      assert.include(started.stdout(), "/operator is closed. Set SATRAIL_OPERATOR_TOKEN")
      for (const key of ["", "undefined", token])
        assert.strictEqual(
          (await Service.send(`${url}/operator/companies`, "POST", { key, body: {} })).status,
          401
        )
    })

    it("banner: shows the version, network, database, node, chain and rates, but no secret", async () => {
      const { running: started } = await start("banner", {
        DATABASE_URL: env["DATABASE_URL"]?.replace("postgres@", "postgres:hunter2@") ?? ""
      })
      const said = started.stdout()
      for (const words of [
        `satrail ${version} is running at`,
        "on regtest.",
        `PostgreSQL at 127.0.0.1:${postgres.port}/postgres`,
        `lnd at ${env["LND_REST_URL"]}`,
        `Esplora at ${env["ESPLORA_URL"]}`,
        `wallet in ${env["CHAIN_WALLET"]}`,
        "simulated and constant"
      ])
        assert.include(said, words)
      for (const name of ["LND_INVOICE_SECRET", "LND_SENDER_MACAROON", "CHAIN_SEED"])
        assert.notInclude(said, env[name] ?? "")
      assert.notInclude(said, "hunter2")
    })

    it("check: while the service is running, the check warns only about the database's settings and Esplora, and exits with 0", async () => {
      await start("checked")
      const check = (more: Record<string, string>, ...flags: ReadonlyArray<string>) =>
        Service.run("cli", ["check", ...flags], { ...env, SATRAIL_DATA: dataOf("checked"), ...more }).ended
      const { code, stdout, stderr } = await check({})
      assert.deepStrictEqual([code, stderr], [0, ""])
      const lines = stdout.trimEnd().split("\n")
      for (const line of lines)
        assert.match(line, /^[✓!] (settings|directory|database|lnd|chain|wallet|rates): /)
      for (const line of lines.filter((line) => line.startsWith("!")))
        assert.match(line, /^! (database: (fsync|the role postgres)|chain: Esplora is untested)/)

      const wrong = { LND_SENDER_MACAROON: "/nowhere/sender.macaroon", CHAIN_WALLET: "/nowhere/wallet.json" }
      const broken = await check(wrong, "--json")
      assert.strictEqual(broken.code, 1)
      const found: ReadonlyArray<Record<string, string>> = JSON.parse(broken.stdout)
      assert.deepStrictEqual(
        found.filter(({ result }) => result === "wrong").map(({ subject }) => subject),
        ["lnd", "wallet"]
      )
      for (const { result, remedy } of found) assert.strictEqual(result === "ok", remedy === undefined)

      const misspelled = await check({ SATRAIL_NETWROK: "mainnet" })
      assert.deepStrictEqual([misspelled.code, misspelled.stderr], [1, ""])
      assert.include(
        misspelled.stdout,
        "✗ settings: SATRAIL_NETWROK is not a setting: did you mean SATRAIL_NETWORK?"
      )

      const { said } = await launch("refused", wrong)
      assert.match(
        said,
        /satrail cannot start\.\n✗ lnd: LND_SENDER_MACAROON cannot be read.*\n✗ wallet: CHAIN_WALLET.*\nRun `satrail check`/
      )
      assert.notMatch(said, /^\s+at /m, "no stack")
    })

    it("start: a warning is logged once, and nothing is logged for correct settings", async () => {
      const { running: started } = await start("warned", { LND_BOOKS_MACAROON: "" })
      const lines = started.stderr().split("\n")
      assert.lengthOf(
        lines.filter((line) => line.includes("LND_BOOKS_MACAROON is not set")),
        1
      )
      assert.notInclude(started.stderr(), "✓")
    })

    it("sandbox: with a real node, only the simulated chain has controls, and the database is bound to that node", async () => {
      const mixed = { CHAIN: "sandbox", SATRAIL_NETWORK: "regtest", DATABASE_URL: databaseOf("mixed") }
      const { url } = await start("mixed", mixed)
      assert.deepStrictEqual(await statuses(url), {
        "/sandbox/pay": 404,
        "/sandbox/release": 404,
        "/sandbox/destination": 404,
        "/sandbox/send": 422,
        "/sandbox/mine": 200,
        "/sandbox/reorg": 200,
        "/sandbox/fee-rate": 200,
        "/sandbox/txt": 404,
        "/sandbox/clock": 404,
        "/sandbox/reset": 404,
        "begin node": 404,
        "end node": 404,
        "begin chain": 200,
        "end chain": 200,
        "begin web": 404,
        "end web": 404,
        "begin rates": 200,
        "end rates": 200,
        "begin database": 404,
        "end database": 404
      })
      assert.deepStrictEqual(await sharedStatuses(url), [200, 200, 200])
      const { data: world } = await (await customer(url))("GET", "/sandbox/world")
      assert.deepStrictEqual([world.id, world.lightning, world.clock.ahead_seconds], [null, null, 0])
      assert.isNumber(world.chain.height)
      const { said } = await launch("other", mixed)
      assert.include(said, "The database belongs to a sandbox other than")
    })
  }
)
