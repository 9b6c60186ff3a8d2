import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import { Effect } from "effect"
import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs"
import { createServer } from "node:net"
import path from "node:path"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

describe("the command line", () => {
  let service: Service.Service
  beforeAll(() => {
    service = Service.make()
    return service.start()
  })
  afterAll(() => service.end())

  const satrail = (args: string, env: Record<string, string> = {}) =>
    Service.run("cli", args.split(" "), { SATRAIL_DATA: service.data, ...env }).ended

  /** The human-readable output. */
  const said = async (args: string) => {
    const ended = await satrail(args)
    assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
    return ended.stdout
  }

  /** The output for programs. */
  const json = async (args: string) => {
    const text = await said(`${args} --json`)
    assert.strictEqual(text.trimEnd().split("\n").length, 1, "one line")
    return JSON.parse(text)
  }

  /** The human-readable error message. */
  const refused = async (args: string, env: Record<string, string> = {}) => {
    const ended = await satrail(args, env)
    assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
    assert.notMatch(ended.stderr, /^\s+at /m, "no stack")
    return ended.stderr
  }

  const opens = async (key: string) => (await service.ask("GET", "/v1/transactions/balance", { key })).status

  it("command line: opens a company, changes its plan and adds its domain", async () => {
    const company = await json("companies create --name Acme --plan free")
    assert.deepStrictEqual([company.name, company.plan], ["Acme", "free"])
    const created = await said("companies create --name Acme --plan free")
    for (const words of ["Company opened", "name", "Acme", "plan", "free", "created_at"])
      assert.include(created, words)

    const { key } = await json(`keys issue ${company.id} --name shop --scopes receive`)
    const address = (body: unknown) =>
      service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body })
    assert.deepStrictEqual(await Customer.refusal(address({ handle: "acme" })), [403, "plan_required"])
    assert.include(await said(`companies plan ${company.id} paid`), "paid")
    assert.strictEqual((await Customer.data(201, address({ handle: "acme" }))).handle, "acme")
    assert.strictEqual((await json(`companies domain ${company.id} acme.example`)).domain, "acme.example")
    assert.strictEqual(
      (await Customer.data(201, address({ handle: "acme", domain: "acme.example" }))).address,
      "acme@acme.example"
    )
    assert.include(await said(`companies domain ${company.id} acme.example`), "acme.example")
  })

  it("command line: the list of companies and a company's record show whether the company is frozen, and why", async () => {
    const { id } = await json("companies create --name Frosty --plan free")
    const [listed, shown] = ["companies list --search Frosty", `companies show ${id}`]
    for (const command of [listed, shown]) assert.notInclude(await said(command), "stolen")
    await said(`freeze ${id} --reason stolen`)
    assert.match(await said(listed), /Frosty.*reason stolen/)
    assert.match(await said(shown), /frozen\n(?: {4}.*\n)* {4}reason +stolen/)
    await said(`unfreeze ${id}`)
    for (const command of [listed, shown]) assert.notInclude(await said(command), "stolen")
  })

  it("command line: issues, rotates and revokes keys", async () => {
    const company = await json("companies create --name Keys --plan free")
    const first = await json(`keys issue ${company.id} --name first --scopes read,receive`)
    assert.deepStrictEqual(
      [first.scopes, first.expires_at, first.company_id],
      [["read", "receive"], null, company.id]
    )
    assert.strictEqual(await opens(first.key), 200)
    const shown = await said(`keys issue ${company.id} --name second --expires-at 2126-01-31T12:00:00.000Z`)
    for (const words of ["API key issued", "sr_regtest_", "2126-01-31T12:00:00.000Z"])
      assert.include(shown, words)

    const second = await json(`keys rotate ${first.id} --overlap-seconds 3600`)
    assert.deepStrictEqual([await opens(first.key), await opens(second.key)], [200, 200])
    const third = /sr_regtest_\w+/.exec(await said(`keys rotate ${second.id}`))?.[0] ?? ""
    assert.deepStrictEqual([await opens(second.key), await opens(third)], [401, 200])

    assert.deepStrictEqual(await json(`keys revoke ${first.id}`), { id: first.id, revoked: true })
    assert.strictEqual(await opens(first.key), 401)
    assert.include(await said(`keys revoke ${first.id}`), "revoked")
  })

  it("command line: sets, shows and clears the limits of a company and of a key", async () => {
    const company = await json("companies create --name Limits --plan free")
    const { id } = await json(`keys issue ${company.id} --name agent --scopes send`)
    const set = await json(
      `limits set key ${id} --day-sats 10000 --recipient-types lightning_invoice,lightning_address`
    )
    assert.deepStrictEqual(
      [set.limits.day_sats, set.limits.recipient_types],
      [10_000, ["lightning_invoice", "lightning_address"]]
    )
    assert.strictEqual((await json(`limits show key ${id}`)).remaining.day_sats, 10_000)
    assert.strictEqual((await json(`limits set company ${company.id} --day-count 5`)).limits.day_count, 5)
    assert.strictEqual((await json(`limits show company ${company.id}`)).remaining.day_count, 5)
    assert.isNull((await json(`limits clear key ${id}`)).limits)
    assert.isNull((await json(`limits clear company ${company.id}`)).limits)
  })

  it("command line: refunds a deposit with a company's key, lists its refunds and shows one; a repeated idempotency key makes no second refund", async () => {
    const demo = service.demo()
    const key = { SATRAIL_API_KEY: demo.api_key }
    const { data } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key: demo.api_key,
      body: { amount: 5000, currency: "sats" }
    })
    await service.ask("POST", "/sandbox/pay", {
      key: demo.api_key,
      body: { payment_request: data.payment_request }
    })
    const paid = await Service.eventually(
      "the deposit",
      () => service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${data.id}`, { key: demo.api_key }),
      (answer) => answer.data.deposit_id !== null
    )
    const create = `refunds create ${paid.data.deposit_id} --amount-sats 500 --idempotency-key one --json`
    const [first, again] = [await satrail(create, key), await satrail(create, key)]
    assert.deepStrictEqual([first.code, again.stdout], [0, first.stdout])
    const refund = JSON.parse(first.stdout)
    assert.deepStrictEqual(
      [refund.amount_sats, refund.status, refund.lnurl.slice(0, 5)],
      [500, "open", "lnurl"]
    )
    assert.strictEqual((await json(`refunds show ${refund.id}`)).id, refund.id)
    const listed = await said("refunds list")
    for (const words of ["deposit_id", refund.id, "500"]) assert.include(listed, words)
    assert.notInclude(listed, "lnurl")
    assert.include(
      await refused(`refunds create ${paid.data.deposit_id} --amount-sats 4501`),
      "refund_too_large"
    )
    assert.include(
      await refused("refunds list", { SATRAIL_URL: service.url(), SATRAIL_DATA: "/nowhere" }),
      "SATRAIL_API_KEY"
    )
  })

  it("command line: creates an offer with a company's key, for the company or for one of its addresses, and shows the DNS record; lists and shows offers", async () => {
    const key = service.demo().api_key
    const made = await json("offers create --description Donations")
    assert.deepStrictEqual([made.memo, made.dns_record, made.offer.slice(0, 4)], ["Donations", null, "lno1"])
    const { data: address } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", {
      key,
      body: {}
    })
    const create = `offers create --address-id ${address.id} --idempotency-key offer-one --json`
    const [first, again] = [await satrail(create), await satrail(create)]
    assert.deepStrictEqual([first.code, again.stdout], [0, first.stdout])
    const { id, dns_record } = JSON.parse(first.stdout)
    assert.match(
      dns_record,
      new RegExp(`^${address.handle}\\.user\\._bitcoin-payment\\..* IN TXT "bitcoin:\\?lno=lno1`)
    )
    assert.strictEqual((await json(`offers show ${id}`)).dns_record, dns_record)
    const listed = await said("offers list")
    for (const words of ["lightning_address", made.id, id, address.address]) assert.include(listed, words)
    assert.include(
      await refused(`offers create --address-id ${address.id}`),
      "must be a Lightning address without an offer"
    )
  })

  it("command line: exports postings to the screen or to a file that appears only when complete; shows a monthly statement", async () => {
    const company = await json("companies create --name Books --plan free")
    const shown = await said(`export ${company.id}`)
    assert.match(
      shown,
      new RegExp(
        `^company_id,booked_at,type[^]*\r\n${company.id},[^,]*,opening,[^]*\r\n${company.id},[^,]*,closing,`
      )
    )
    assert.include(await said("export --format jsonl"), '"type":"closing"')
    const directory = Service.directory()
    const file = path.join(directory, "books.csv")
    const written = await satrail(`export ${company.id} --until 2026-01-01T00:00:00Z --output ${file}`)
    assert.deepStrictEqual([written.code, written.stdout, written.stderr.trim()], [0, "", `Written: ${file}`])
    assert.deepStrictEqual(readdirSync(directory), ["books.csv"])
    assert.include(readFileSync(file, "utf8"), ",closing,")
    const refusal = await refused(`export ${company.id} --from yesterday --output ${file}`)
    for (const words of ["malformed", "from must"]) assert.include(refusal, words)
    assert.deepStrictEqual(readdirSync(directory), ["books.csv"])
    const link = path.join(directory, "stdout")
    symlinkSync(file, link)
    assert.include(await refused(`export ${company.id} --output ${link}`), "is not a regular file")
    assert.strictEqual(readlinkSync(link), file)
    rmSync(directory, { recursive: true })

    assert.strictEqual((await json(`statement ${company.id} 2026-01`)).closing_sats, 0)
    assert.include(await said(`statement ${company.id} 2026-01`), "closing_sats")
    const page = await said(`statement ${company.id} 2026-01 --html`)
    for (const words of ["<!doctype html>", "Books", "Closing balance"]) assert.include(page, words)
    assert.include(await refused(`statement ${company.id} 2999-01`), "month must be")
    assert.include(await refused(`statement ${company.id} 2999-01 --html`), "month must be")
  })

  it("command line: sets, shows and clears the fees of a company", async () => {
    const { id } = await json("companies create --name Fees --plan free")
    const set = await json(`fees set ${id} --lightning-base-sats 1.5 --on-chain-ppm 10`)
    const [own, onChain] = [
      { base_sats: 1.5, parts_per_million: 0 },
      { base_sats: 0, parts_per_million: 10 }
    ]
    assert.deepStrictEqual(set.own, { lightning: own, on_chain: onChain, internal: null })
    assert.deepStrictEqual((await json(`fees show ${id}`)).fees.lightning, own)
    assert.deepStrictEqual((await json(`fees set ${id} --lightning-ppm 5`)).own.lightning, {
      ...own,
      parts_per_million: 5
    })
    assert.isNull((await json(`fees clear ${id}`)).own.lightning)
  })

  it("command line: can read the service's address from the environment", async () => {
    const env = {
      SATRAIL_DATA: "/nowhere",
      SATRAIL_URL: service.url(),
      SATRAIL_OPERATOR_TOKEN: service.token()
    }
    assert.strictEqual((await satrail("companies create --name Acme --plan free", env)).code, 0)
  })

  it("command line: prints every problem with a rejected request", async () => {
    assert.include(await refused("keys revoke nobodysKey00"), "not_found")
    const refusal = await refused(
      "keys issue 01a1f768-1c70-748e-8579-81b7373e8599 --name x --scopes read,write,fly"
    )
    assert.include(refusal, "malformed")
    for (const path of ["scopes.1", "scopes.2"])
      assert.lengthOf(refusal.split(path), 2, `the error names ${path} once: ${refusal}`)
  })

  it("command line: the error for a wrong token omits the token", async () => {
    const token = "x".repeat(40)
    const refusal = await refused("keys revoke any", {
      SATRAIL_URL: service.url(),
      SATRAIL_OPERATOR_TOKEN: token
    })
    assert.include(refusal, "unauthorized")
    assert.notInclude(refusal, token)
  })

  it("command line: a missing, unreachable or malformed service address is reported", async () => {
    const token = "x".repeat(40)
    assert.include(await refused("keys revoke any", { SATRAIL_DATA: "/nowhere" }), "No service found")
    // No server listens on this port, because it was free a moment ago.
    const other = createServer().listen(0, "127.0.0.1")
    const address = `127.0.0.1:${await boundPort(other)}`
    await once(other.close(), "close")
    const down = await refused("keys revoke any", {
      SATRAIL_URL: `http://${address}`,
      SATRAIL_OPERATOR_TOKEN: token
    })
    for (const words of [
      `http://${address} can't be reached`,
      "Is the service running?",
      `ECONNREFUSED ${address}`
    ])
      assert.include(down, words)
    assert.notInclude(down, token)
    assert.include(
      await refused("keys revoke any", { SATRAIL_URL: "somewhere", SATRAIL_OPERATOR_TOKEN: token }),
      "SATRAIL_URL must be"
    )
  })

  it("own-funds: a command without flags writes nothing, and the error names the missing flags", async () => {
    const own = async () => JSON.parse(await said("own-funds --node-sats 7 --json"))
    const before = await own()
    assert.strictEqual(before.node_sats, 7)
    const refusal = await refused("own-funds")
    for (const words of ["Nothing was changed", "--node-sats", "--on-chain-sats"])
      assert.include(refusal, words)
    assert.deepStrictEqual(await own(), before)
  })

  it("command line: migrate prints the database's address without the password", async () => {
    // It ends every connection, so it is not a database that is starting.
    const other = createServer((socket) => socket.end()).listen(0, "127.0.0.1")
    const address = `127.0.0.1:${await boundPort(other)}/money`
    for (const [url, says] of [
      ["mysql://root:hunter2@db", "DATABASE_URL must be"],
      [`postgres://root:hunter2@${address}`, `No database responds at ${address}`]
    ] as const) {
      const refusal = await refused("migrate", { DATABASE_URL: url })
      assert.include(refusal, says)
      assert.notInclude(refusal, "hunter2")
    }
    other.close()
  })

  it("command line: a wrong command prints the mistake, then its usage, in at most five lines", async () => {
    for (const args of [
      "companies create --name Acme --plan gold",
      "companies create --plan paid",
      "keys revoke",
      "frobnicate"
    ]) {
      const ended = await satrail(args)
      assert.deepStrictEqual([args, ended.code], [args, 1])
      assert.include(ended.stderr, "\n\nUsage: satrail")
      assert.isAtMost(ended.stderr.trimEnd().split("\n").length, 5)
    }
  })

  it("command line: `satrail start` runs the service, exits with 0 after a stop, and exits with 1 if the service cannot start", async () => {
    const data = Service.directory()
    const started = Service.run("cli", ["start"], { SATRAIL_DATA: data, PORT: "0" })
    await Effect.runPromise(eventually(Effect.sync(started.stdout), (said) => said.includes("is running at")))
    started.kill("SIGTERM")
    const ended = await started.ended
    assert.deepStrictEqual([ended.code, /^\s+at /m.test(ended.stderr)], [0, false])
    const refused = await Service.run("cli", ["start"], { SATRAIL_DATA: data, PORT: "http" }).ended
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    assert.include(refused.stderr, "PORT must be")
    rmSync(data, { recursive: true, force: true })
  })
})
