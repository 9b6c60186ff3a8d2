import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Ledger from "@satrail/contracts/Ledger"
import { Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import path from "node:path"
import * as Books from "./Books.ts"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)

const docs = path.join(import.meta.dirname, "../../../docs/guides")
const guides = ["deploy", "database"].map((name) => readFileSync(path.join(docs, `${name}.md`), "utf8"))

/** The guides' SQL blocks of this kind. */
const guide = (kind: "alarm" | "hold") =>
  Array.from(guides.join("\n").matchAll(/^```sql (\w+)\n([^]*?)^```$/gm)).flatMap(([, found, text = ""]) =>
    found === kind ? [text] : []
  )

const roles = path.join(import.meta.dirname, "../../postgres/roles.sql")

describe.skipIf("missing" in installation)("the restore drill (skipped where there is no PostgreSQL)", () => {
  if ("missing" in installation) return
  let service: Service.Service
  let servers: ReadonlyArray<PostgresServer.PostgresServer> = []
  beforeAll(async () => {
    service = Service.make()
    servers = await Promise.all([PostgresServer.start(installation), PostgresServer.start(installation)])
  })
  afterAll(async () => {
    await service.end()
    await Promise.all(servers.map((server) => server.end()))
  })

  const urlOf = (server: PostgresServer.PostgresServer, role: string, database = "money") =>
    `postgres://${role}@127.0.0.1:${server.port}/${database}`

  /** An empty database, created as described in docs/guides/deploy.md. */
  const prepare = (server: PostgresServer.PostgresServer, database = "money") => {
    ask(server, "postgres", `create database ${database}`, "postgres")
    Client.script(installation, urlOf(server, "postgres", database), roles)
  }

  /** Runs a query as a role and returns one line per row. */
  const ask = (server: PostgresServer.PostgresServer, role: string, text: string, database = "money") =>
    Client.query(installation, urlOf(server, role, database), text)

  /** The result of each alarm query in the guide. */
  const alarms = (server: PostgresServer.PostgresServer) =>
    guide("alarm").map((text) => ask(server, "satrail_reader", text))

  const dump = (server: PostgresServer.PostgresServer, file: string, database = "money") =>
    Client.run(installation, "pg_dump", [
      "--format=custom",
      "--schema=satrail",
      `--file=${file}`,
      urlOf(server, "satrail_migration", database)
    ])

  const restore = (server: PostgresServer.PostgresServer, file: string, database = "money") =>
    Client.run(installation, "pg_restore", [
      "--clean",
      "--if-exists",
      "--single-transaction",
      "--exit-on-error",
      `--dbname=${urlOf(server, "postgres", database)}`,
      file
    ])

  /** Verifies the ledger with a read-only role. */
  const verify = async (server: PostgresServer.PostgresServer, database = "money") => {
    const ended = await Service.run("cli", ["verify", "--json"], {
      DATABASE_URL: urlOf(server, "satrail_reader", database)
    }).ended
    return {
      code: ended.code,
      verified: JSON.parse(ended.stdout === "" ? assert.fail(ended.stderr) : ended.stdout)
    }
  }

  const migrate = (url: string) => Service.run("cli", ["migrate", "--json"], { DATABASE_URL: url }).ended

  /**
   * Checks that every company's books are sound while nothing writes to the database. Returns the published
   * events.
   */
  const audited = (url: string) =>
    Effect.runPromise(
      Effect.provide(
        Effect.gen(function* () {
          yield* Ledger.auditAll
          const { events } = yield* Records
          return yield* events(0n, 10_000)
        }),
        Storage.layer({ url: Redacted.make(url) })
      )
    )

  /** The withdrawals that a process started an hour later takes over from the processes that are gone. */
  const takenOver = (url: string) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { takeOver } = yield* Tasks
        const [holder, nowMillis] = [randomUUID(), Date.now() + 3_600_000]
        return yield* takeOver({
          holder,
          kinds: Withdrawal.kinds,
          nowMillis,
          aliveMillis: 1000,
          leaseMillis: 1000,
          limit: 100
        })
      }).pipe(Effect.provide(Storage.layer({ url: Redacted.make(url) })))
    )

  /** The API responses about everything a company has. */
  const told = async (company: Service.Company) => {
    const lines: ReadonlyArray<{ readonly id: string; readonly type: string }> =
      await Customer.transactions(company)
    const routes = ["balance", "?limit=1000", ...lines.map(({ id, type }) => `${type}s/${id}`)]
    const answers = await Promise.all(
      routes.map((route) => company.get(`/v1/transactions${route.startsWith("?") ? "" : "/"}${route}`))
    )
    for (const { status, text } of answers) assert.strictEqual(status, 200, text)
    return answers.map(({ text }) => text)
  }

  it("restore: after a dump is restored on an empty server, the service returns byte-for-byte the same responses and resumes its work, and its books balance", async ({
    onTestFailed
  }) => {
    onTestFailed(() => console.error(service.logs().join("\n")))
    const [first, second] = servers
    if (first === undefined || second === undefined) return assert.fail("the servers did not start")
    for (const server of servers) prepare(server)
    const migrated = await migrate(urlOf(first, "satrail_migration"))
    assert.deepStrictEqual([migrated.code, JSON.parse(migrated.stdout).before], [0, 0], migrated.stderr)
    await service.start({ DATABASE_URL: urlOf(first, "satrail_application") })

    // Create money in every state: received, sent, transferred to another company, and pending because the
    // outcome is unknown.
    const [shop, friend] = [await service.company("paid"), await service.company("free")]
    await Customer.fund(shop, 100_000)
    const once = { "Idempotency-Key": "once" }
    const outside = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
    const confirmed = await Customer.confirm(shop, outside.destination, 1000, once)
    await Customer.ends(shop, confirmed.data.id, "settled")
    const inside = await Customer.invoice(friend, 2000)
    await Customer.ends(
      shop,
      (await Customer.data(201, Customer.confirm(shop, inside.payment_request, 2000))).id,
      "settled"
    )
    const unknown = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 5000,
      behaviour: "hold"
    })
    const held = await Customer.data(201, Customer.confirm(shop, unknown.destination, 5000))

    const colleague = { name: "colleague", scopes: ["all"] }
    const colleaguesKey = (
      await Customer.data(
        201,
        service.ask("POST", "/operator/tokens", { key: service.token(), body: colleague })
      )
    ).token
    const keyOf = async (body: object) => {
      const path = `/operator/companies/${shop.id}/api-keys`
      const { id, key } = await Customer.data(201, service.ask("POST", path, { key: service.token(), body }))
      await Customer.data(
        200,
        service.ask("POST", `/operator/api-keys/${id}/approve`, { key: colleaguesKey })
      )
      return key
    }
    const asks = await keyOf({ name: "asks", scopes: ["send"], limits: { approval_above_sats: 1 } })
    const approves = await keyOf({ name: "approves", scopes: ["approve"] })
    const { destination } = await Customer.outside(shop, "lightning_address")
    const body = { amount: 3000, currency: "sats", destination }
    const waiting = await Customer.data(
      201,
      service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: asks, body })
    )
    const approve = () =>
      service.ask("POST", `/v1/transactions/withdrawals/${waiting.id}/approve`, { key: approves })

    // A dump is consistent even while money moves.
    const addresses = await Customer.times(20, () => Customer.outside(shop, "lightning_address"))
    const moving = addresses.map(({ destination }) => Customer.confirm(shop, destination, 100))
    await moving[0]
    dump(first, path.join(service.data, "moving.dump"))
    for (const sent of await Promise.all(moving)) await Customer.ends(shop, sent.data.id, "settled")
    await Customer.data(200, approve())
    await Customer.ends(shop, waiting.id, "settled")

    const before = [await told(shop), await told(friend)]
    await service.stop("SIGTERM")
    dump(first, path.join(service.data, "money.dump"))
    await first.stop("immediate")

    prepare(second, "moving")
    restore(second, path.join(service.data, "moving.dump"), "moving")
    assert.isNotEmpty(await audited(urlOf(second, "satrail_migration", "moving")))
    assert.deepInclude((await verify(second, "moving")).verified, { sound: true, faults: [] })

    const [hold = assert.fail("the guide does not say how to hold withdrawals")] = guide("hold")
    // Count the withdrawals' due tasks, of any kind.
    const due =
      "select count(*) from satrail.tasks t join satrail.withdrawals using (id) where t.due_at_millis < extract(epoch from now()) * 1000 + 1e9"
    assert.isAtLeast(Number(ask(second, "satrail_reader", due, "moving")), 1)
    for (const _ of ["a first time", "again"]) ask(second, "satrail_migration", hold, "moving")
    assert.strictEqual(Number(ask(second, "satrail_reader", due, "moving")), 0)
    assert.deepStrictEqual(await takenOver(urlOf(second, "satrail_application", "moving")), [])
    // The operator can look at the held withdrawals, and they are still held.
    assert.strictEqual((await migrate(urlOf(second, "satrail_migration", "moving"))).code, 0)
    await service.start({ DATABASE_URL: urlOf(second, "satrail_application", "moving") })
    for (const route of ["backlog", "reconciliation", "withdrawals", `withdrawals/${held.id}`])
      assert.strictEqual(
        (await service.ask("GET", `/operator/${route}`, { key: service.token() })).status,
        200,
        route
      )
    // The withdrawal was paid after the dump. Another approval does not pay it again.
    assert.strictEqual((await Customer.data(200, approve())).approval.state, "approved")
    await service.stop("SIGTERM")
    assert.strictEqual(Number(ask(second, "satrail_reader", due, "moving")), 0)

    restore(second, path.join(service.data, "money.dump"))
    // The new server's transaction counter is behind the one recorded in published events, so the service
    // refuses to start before `migrate` has run.
    const early = await Service.run("main", [], {
      ...service.env(),
      DATABASE_URL: urlOf(second, "satrail_application")
    }).ended
    assert.strictEqual(early.code, 1)
    assert.include(early.stderr, "Run `satrail migrate`")
    // Verify the restored ledger before the service starts on it.
    assert.deepInclude((await verify(second)).verified, { sound: true, faults: [] })
    const again = await migrate(urlOf(second, "satrail_migration"))
    assert.strictEqual(again.code, 0, again.stderr)
    await service.start({ DATABASE_URL: urlOf(second, "satrail_application") })

    assert.deepStrictEqual([await told(shop), await told(friend)], before)
    assert.strictEqual((await Customer.confirm(shop, outside.destination, 1000, once)).text, confirmed.text)
    await Customer.data(
      200,
      shop.post("/sandbox/release", { payment_hash: unknown.payment_hash, outcome: "settle" })
    )
    await Customer.ends(shop, held.id, "settled")
    await Customer.fund(friend, 3000)
    await service.stop("SIGTERM")

    const events = await audited(urlOf(second, "satrail_migration"))
    assert.deepStrictEqual(
      events.slice(-3).map(({ type }) => type),
      ["withdrawal.settled", "invoice.created", "invoice.settled"],
      "the events after the restore are the newest"
    )

    assert.deepStrictEqual(alarms(second), ["", "", "", "", "", ""])
    // Only the tables' owner can do this.
    const entry = (from: string, to: string) =>
      `insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis) values ('${friend.id}', '${friend.id}', '${from}', '${to}', 1, 1)`
    ask(
      second,
      "satrail_migration",
      `update satrail.balances set posted = posted + 1, held = held + 1 where company_id = '${friend.id}';
      ${entry("node", "internal")}; ${entry("node", "suspense")};
      update satrail.withdrawals set status = 'pending', created_at_millis = 1 where id = '${confirmed.data.id}';
      insert into satrail.tasks (id, kind, company_id, due_at_millis) values ('${friend.id}', 'withdrawal', '${friend.id}', 1)`
    )
    for (const said of alarms(second)) assert.isNotEmpty(said)
    const { code, verified } = await verify(second)
    assert.deepStrictEqual([code, verified.sound, verified.stuck_sats], [2, false, 0.001])
    const kinds = new Set(verified.faults.map(({ kind }: { readonly kind: string }) => kind))
    assert.isTrue(
      kinds.has("posted") && kinds.has("held") && kinds.has("holds") && kinds.has("transfer"),
      JSON.stringify(verified.faults)
    )
  })

  it("restore: an operator books a payout sent after the dump and resumes sending, so that each payout settles once", async ({
    onTestFailed,
    onTestFinished
  }) => {
    const service = Service.make()
    onTestFinished(() => service.end())
    onTestFailed(() => console.error(service.logs().join("\n")))
    const server = servers[1] ?? assert.fail("the server did not start")
    for (const database of ["payouts", "restored"]) prepare(server, database)
    const [before, after] = [
      urlOf(server, "satrail_application", "payouts"),
      urlOf(server, "satrail_application", "restored")
    ]
    assert.strictEqual((await migrate(urlOf(server, "satrail_migration", "payouts"))).code, 0)
    const day = 86_400
    await service.start({ DATABASE_URL: before, SATRAIL_PAYOUT_WINDOW_SECONDS: String(day) })
    const satrail = async (...args: ReadonlyArray<string>) => {
      const ended = await Service.run("cli", args, { SATRAIL_DATA: service.data }).ended
      assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
    }

    const shop = await service.company("paid")
    const mine = () => Customer.data(200, shop.post("/sandbox/mine", { blocks: 6 }))
    const { address } = await Customer.data(
      201,
      shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" })
    )
    for (const _ of ["the first payout", "the later ones"])
      await Customer.data(201, shop.post("/sandbox/send", { address: address.address, amount_sats: 200_000 }))
    await mine()
    await Customer.hasBalance(shop, 400_000)
    const pay = async () => {
      const { destination } = await Customer.outside(shop, "chain_address")
      return (await Customer.data(201, Customer.confirm(shop, destination, 50_000))).id
    }
    const sent = (id: string) =>
      Customer.until(shop, `/v1/transactions/withdrawals/${id}`, ({ chain_tx_id }) => chain_tx_id !== null)

    const id = await pay()
    const file = path.join(service.data, "payouts.dump")
    dump(server, file, "payouts")
    await Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: day }))
    const { chain_tx_id: txId } = await sent(id)
    await mine()
    const settled = await Customer.ends(shop, id, "settled")
    await service.stop("SIGTERM")

    restore(server, file, "restored")
    const [hold = assert.fail("the guide does not say how to hold withdrawals")] = guide("hold")
    ask(server, "satrail_migration", hold, "restored")
    assert.strictEqual((await migrate(urlOf(server, "satrail_migration", "restored"))).code, 0)
    await service.start({ DATABASE_URL: after })
    const unsent = await Customer.fetchWithdrawal(shop, id)
    assert.deepStrictEqual([unsent.status, unsent.chain_tx_id], ["pending", null])
    await satrail("withdrawals", "book", id, "--tx", txId)
    await satrail("resume", "sending")
    const booked = await Customer.ends(shop, id, "settled")
    assert.deepStrictEqual([booked.chain_tx_id, booked.fee_sats], [txId, settled.fee_sats])
    const next = await pay()
    await sent(next)
    await mine()
    await Customer.ends(shop, next, "settled")
    await service.stop("SIGTERM")
    // Checks that each payout is one output on the chain.
    await Books.agree(
      Storage.layer({ url: Redacted.make(urlOf(server, "satrail_migration", "restored")) }),
      path.join(service.data, "sandbox")
    )
    assert.deepInclude((await verify(server, "restored")).verified, { sound: true, faults: [] })
  })
})
