import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Api from "@satrail/service/http/Api"
import { OperatorAuthentication } from "@satrail/http/api/Authentication"
import { boundPort } from "@satrail/testing/boundPort"
import { ConfigProvider, Console, Effect, Exit, Option } from "effect"
import { Argument, Command } from "effect/cli"
import type { HttpApiEndpoint } from "effect/http-api"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { action, secondsOf } from "@satrail/http/commands/CommandParts"
import * as Names from "../src/client/Names.ts"
import { satrail, withOwn } from "../src/commands/Commands.ts"
import { Variables } from "../src/environment/Unknown.ts"
import { version } from "../src/base/Version.ts"
import { run } from "./CommandLine.ts"

// A service that only records its requests. Other tests cover how commands use the responses.
const asked: Array<string> = []
let answered: object = []
let refusal: object | undefined
let redirect: { readonly status: number; readonly location: string } | undefined
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  request.resume()
  response.setHeader("content-type", "application/json")
  if (redirect !== undefined) {
    response.writeHead(redirect.status, { location: redirect.location }).end()
    return
  }
  if (refusal !== undefined) {
    const status = "status" in refusal ? Number(refusal.status) : 422
    response.writeHead(status).end(JSON.stringify({ status, message: "Refused", data: null, error: refusal }))
    return
  }
  response.end(JSON.stringify({ status: 200, message: "Noted", data: answered }))
})
const url = `http://127.0.0.1:${await boundPort(server.listen(0, "127.0.0.1"))}`
const directory = await mkdtemp(join(tmpdir(), "satrail-commands-"))
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true })
})

const env = { SATRAIL_URL: url, SATRAIL_OPERATOR_TOKEN: "a token" }
const printed: Array<unknown> = []
const quiet: Console.Console = {
  ...globalThis.console,
  log: (text: unknown) => printed.push(text),
  error: () => undefined
}

/** The requests that a command line sends to the service. */
const asks = (typed: string, line = satrail): Promise<ReadonlyArray<string>> => {
  asked.length = 0
  return Effect.runPromise(
    Command.runWith(line, { version })(typed.split(" ")).pipe(
      Effect.exit,
      Effect.provideService(Console.Console, quiet),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
      Effect.provideService(Variables, env),
      Effect.provide(NodeServices.layer),
      Effect.map(() => [...asked])
    )
  )
}

const file = `--output ${join(directory, "out")}`

/** What a command prints. */
const said = async (typed: string): Promise<string> => {
  printed.length = 0
  await asks(typed)
  return printed.join("\n")
}

/** Complete ids, which need no lookup. */
const [whole, other] = ["01a1f768-1c70-748e-8579-81b7373e8599", "01a1f768-1c70-748e-8579-81b7373e859a"]

/**
 * Every operator route and a command line that requests it. `ID` and `ONE` stand for ids, or for the parameters
 * that the route has instead.
 */
const typed: Readonly<Record<string, string>> = {
  "GET /operator/companies": "companies list",
  "POST /operator/companies": "companies create --name Acme --plan free",
  "GET /operator/companies/:id": "companies show ID",
  "PATCH /operator/companies/:id": "companies plan ID paid",
  "GET /operator/companies/:companyId/domains": "companies look ID domains",
  "POST /operator/companies/:companyId/domains": "companies domain ID acme.example",
  "GET /operator/companies/:id/fees": "fees show ID",
  "PUT /operator/companies/:id/fees": "fees clear ID",
  "PATCH /operator/companies/:id/fees": "fees set ID --lightning-ppm 1000",
  "GET /operator/companies/:id/limits": "limits show company ID",
  "PUT /operator/companies/:id/limits": "limits clear company ID",
  "PATCH /operator/companies/:id/limits": "limits set company ID --day-sats 1000",
  "POST /operator/companies/:id/freeze": "freeze ID --reason drill",
  "POST /operator/companies/:id/unfreeze": "unfreeze ID",
  "GET /operator/companies/:id/api-keys": "keys list ID",
  "POST /operator/companies/:id/api-keys": "keys issue ID --name till",
  "GET /operator/api-keys/:id": "limits show key ID",
  "PUT /operator/api-keys/:id/limits": "limits clear key ID",
  "PATCH /operator/api-keys/:id/limits": "limits set key ID --day-sats 1000",
  "PUT /operator/api-keys/:id/allowed-from": "keys allow ID anywhere",
  "POST /operator/api-keys/:id/rotate": "keys rotate ID",
  "POST /operator/api-keys/:id/approve": "keys approve ID",
  "DELETE /operator/api-keys/:id": "keys revoke ID",
  "POST /operator/api-keys/:id/connect": "keys connect ID",
  "GET /operator/api-keys/:id/wallet-connection": "keys connection ID",
  "GET /operator/companies/:companyId/transactions": "companies transactions ID",
  "GET /operator/companies/:companyId/transactions/balance": "companies look ID balance",
  "GET /operator/companies/:companyId/transactions/deposits/:depositID": "companies look ID deposit ONE",
  "GET /operator/companies/:companyId/transactions/deposits/:depositID/payer": "companies look ID payer ONE",
  "GET /operator/companies/:companyId/transactions/withdrawals/:withdrawalID":
    "companies look ID withdrawal ONE",
  "GET /operator/companies/:companyId/transactions/export": `export ID ${file}`,
  "GET /operator/companies/:companyId/statements/:month": "statement ID ONE",
  "GET /operator/companies/:companyId/bitcoin/deposit/lightning-invoice": "companies look ID invoices",
  "GET /operator/companies/:companyId/bitcoin/deposit/lightning-invoice/:invoiceID":
    "companies look ID invoices ONE",
  "GET /operator/companies/:companyId/bitcoin/deposit/lightning-address":
    "companies look ID lightning-addresses",
  "GET /operator/companies/:companyId/bitcoin/deposit/lightning-address/:id":
    "companies look ID lightning-addresses ONE",
  "GET /operator/companies/:companyId/bitcoin/deposit/on-chain": "companies look ID on-chain-addresses",
  "GET /operator/companies/:companyId/bitcoin/deposit/on-chain/:id":
    "companies look ID on-chain-addresses ONE",
  "GET /operator/search": "search coffee",
  "GET /operator/companies/:companyId/transfers": "companies look ID transfers",
  "GET /operator/companies/:companyId/vouchers": "companies look ID vouchers",
  "GET /operator/companies/:companyId/vouchers/:id": "companies look ID vouchers ONE",
  "POST /operator/companies/:companyId/vouchers/cancel": "vouchers cancel ID --created-by ONE",
  "GET /operator/companies/:companyId/events": "companies look ID events",
  "GET /operator/companies/:companyId/events/:id": "companies look ID events ONE",
  "GET /operator/companies/:companyId/webhook-endpoints": "companies look ID webhooks",
  "GET /operator/companies/:companyId/webhook-endpoints/:id": "companies look ID webhooks ONE",
  "GET /operator/companies/:companyId/webhook-endpoints/:id/deliveries": "companies look ID deliveries ONE",
  "GET /operator/tokens": "operators list",
  "POST /operator/tokens": "operators issue --name Ada --scopes read",
  "DELETE /operator/tokens/:id": "operators revoke ID",
  "GET /operator/status": "status",
  "GET /operator/liquidity": "liquidity",
  "GET /operator/backlog": "backlog",
  "GET /operator/withdrawals": "withdrawals list",
  "GET /operator/withdrawals/:id": "withdrawals show ID",
  "POST /operator/withdrawals/:id/settle": `withdrawals settle ID --preimage ${"ab".repeat(32)} --fee-sats 3`,
  "POST /operator/withdrawals/:id/release": "withdrawals release ID",
  "POST /operator/withdrawals/:id/book": `withdrawals book ID --tx ${"ab".repeat(32)}`,
  "POST /operator/withdrawals/:id/reject": "withdrawals reject ID",
  "GET /operator/deposits": "deposits list",
  "GET /operator/deposits/:id": "deposits show ID",
  "GET /operator/pause": "paused",
  "POST /operator/pause": "pause sending",
  "POST /operator/resume": "resume receiving",
  "GET /operator/reconciliation": "reconcile",
  "PATCH /operator/reconciliation/own-funds": "own-funds --node-sats 5",
  "GET /operator/suspense": "suspense list",
  "POST /operator/suspense/:id/assign": "suspense assign ID ONE",
  "GET /operator/platform-keys": "platform-keys list",
  "POST /operator/platform-keys": "platform-keys issue --name shops --scopes read",
  "POST /operator/platform-keys/:id/approve": "platform-keys approve ID",
  "DELETE /operator/platform-keys/:id": "platform-keys revoke ID",
  "GET /operator/people": "people list",
  "POST /operator/people": "people invite --name Ada",
  "POST /operator/people/:id/approve": "people approve ID",
  "POST /operator/people/:id/recover": "people recover ID",
  "DELETE /operator/people/:id": "people remove ID",
  "GET /operator/adjustments": "adjustments list",
  "POST /operator/adjustments": "adjustments request ID --sats 5 --reason drill",
  "GET /operator/adjustments/:id": "adjustments show ID",
  "POST /operator/adjustments/:id/approve": "adjustments approve ID",
  "POST /operator/adjustments/:id/reject": "adjustments reject ID",
  "GET /operator/transactions/export": `export ${file}`,
  "GET /operator/audit": "audit",
  "GET /operator/webhook-endpoints": "webhooks list",
  "POST /operator/webhook-endpoints": "webhooks create --url https://ops.example/",
  "GET /operator/webhook-endpoints/:id": "webhooks show ID",
  "PATCH /operator/webhook-endpoints/:id": "webhooks change ID --types checkout.paid",
  "DELETE /operator/webhook-endpoints/:id": "webhooks delete ID",
  "POST /operator/webhook-endpoints/:id/disable": "webhooks disable ID",
  "POST /operator/webhook-endpoints/:id/enable": "webhooks enable ID",
  "POST /operator/webhook-endpoints/:id/replay": "webhooks replay ID evt_one",
  "POST /operator/webhook-endpoints/:id/rotate-secret": "webhooks rotate-secret ID",
  "POST /operator/webhook-endpoints/:id/test": "webhooks test ID",
  "GET /operator/webhook-endpoints/:id/deliveries": "webhooks deliveries ID",
  "POST /operator/webhook-deliveries/:id/resend": "webhooks resend ID"
}

/** Routes without a command, and the reason. */
const none: Readonly<Record<string, string>> = {
  "GET /operator/metrics": "Prometheus reads it in its own format",
  "PUT /operator/webhook-endpoints/:id": "`webhooks change` uses PATCH, which keeps the other fields"
}

const groups: ReadonlyArray<{ readonly endpoints: Readonly<Record<string, HttpApiEndpoint.Top>> }> =
  Object.values(Api.Api.groups)
const routes = groups
  .flatMap(({ endpoints }) => Object.values(endpoints))
  .filter(
    ({ middlewares, path }) =>
      path.startsWith("/operator") && [...middlewares].some(({ key }) => key === OperatorAuthentication.key)
  )
  .map(({ method, path }) => `${method} ${path}`)

describe("the command line and the routes", () => {
  it("command line: every operator route has a command, or a documented reason to have none", () => {
    assert.sameMembers(routes, [...Object.keys(typed), ...Object.keys(none)])
  })

  for (const [route, command] of Object.entries(typed)) {
    it(`command line: \`${command.replace(file, "").trim()}\` requests ${route}`, async () => {
      const [method = "", path = ""] = route.split(" ")
      const places = [whole, other]
      const filled = path.replaceAll(/:\w+/g, () => places.shift() ?? "")
      const [one, ...more] = await asks(command.replaceAll(/\bID\b/g, whole).replaceAll(/\bONE\b/g, other))
      assert.deepStrictEqual([one?.split("?")[0], more], [`${method} ${filled}`, []])
    })
  }

  it("command line: no command follows a redirect with its credential, and the error says where it pointed", async () => {
    for (const status of [301, 302, 303, 307, 308])
      for (const command of [
        "companies list",
        "companies create --name Acme --plan free",
        `export ${whole} ${file}`,
        `statement ${whole} 2026-01`
      ]) {
        asked.length = 0
        redirect = { status, location: `${url}/elsewhere` }
        const { exit } = await Effect.runPromise(run(command, env))
        redirect = undefined
        assert.strictEqual(asked.length, 1, `${status} ${command}`)
        const error = Exit.findErrorOption(exit)
        assert.include(String(Option.getOrUndefined(error)), `redirects to ${url}/elsewhere`)
      }
  })

  it("command line: list options are sent to the service, with times in seconds", async () => {
    assert.deepStrictEqual(await asks("withdrawals list --status pending --older-than 1h --limit 5"), [
      "GET /operator/withdrawals?limit=5&status=pending&older_than=3600"
    ])
    assert.deepStrictEqual(await asks("deposits list --older-than 90"), [
      "GET /operator/deposits?older_than=90"
    ])
    assert.deepStrictEqual(
      await asks("withdrawals list --older-than soon"),
      [],
      "the command is rejected before any request"
    )
    assert.deepStrictEqual(
      ["90s", "15m", "2d", "7", "1w", "-1", ""].map((text) => Option.getOrNull(secondsOf(text))),
      [90, 900, 172_800, 7, null, null, null]
    )
  })

  it("command line: the audit log is printed a page at a time with filters, or exported entirely to a file", async () => {
    assert.deepStrictEqual(await asks("audit --actor ID --outcome scope_required --limit 3"), [
      "GET /operator/audit?actor_id=ID&outcome=scope_required&limit=3"
    ])
    assert.deepStrictEqual(
      await asks(`audit --company ${whole} --from 2026-01-01T00:00:00Z --format jsonl ${file}`),
      [`GET /operator/audit?company_id=${whole}&from=2026-01-01T00%3A00%3A00Z&format=jsonl`]
    )
    assert.deepStrictEqual(await asks(`audit ${file}`), [], "a file requires a format")
  })

  it("command line: a full key is accepted for its id, and no secret is sent or printed", async () => {
    const secret = "5".repeat(43)
    const full = `sr_regtest_7Kq2mVx9TbZc_${secret}`
    printed.length = 0
    assert.deepStrictEqual(await asks(`keys revoke ${full}`), ["DELETE /operator/api-keys/7Kq2mVx9TbZc"])
    assert.deepStrictEqual(await asks(`keys revoke ${full} --void-links`), [
      "DELETE /operator/api-keys/7Kq2mVx9TbZc?links=void"
    ])
    assert.deepStrictEqual(await asks(`people remove ${whole} --void-links`), [
      `DELETE /operator/people/${whole}?links=void`
    ])
    assert.deepStrictEqual(await asks(`limits show key ${full}`), ["GET /operator/api-keys/7Kq2mVx9TbZc"])
    assert.deepStrictEqual(await asks(`audit --actor ${full}`), ["GET /operator/audit?actor_id=7Kq2mVx9TbZc"])
    for (const damaged of [`sr_regtest_7Kq2_${secret}`, `sr_${secret}`, `op_${secret}`])
      for (const command of [
        `keys revoke ${damaged}`,
        `operators revoke ${damaged}`,
        `audit --actor ${damaged}`
      ])
        assert.notInclude((await asks(command)).join(), secret)
    assert.notInclude(printed.join("\n"), secret)
  })

  it("command line: if an actor has no entries, the command says what an actor's id looks like", async () => {
    for (const [typed, isSaid] of [
      ["audit --actor Acme", true],
      ["audit", false]
    ] as const) {
      printed.length = 0
      await asks(typed)
      assert.strictEqual(
        String(printed[0]).includes("--actor is the id of a key (12 characters)"),
        isSaid,
        typed
      )
    }
  })

  it("command line: each audit log entry is followed by the changed values, before and after the change", async () => {
    answered = [
      { verb: "a", changes: [{ field: "limits", before: '{"daySats":1000}', after: null }] },
      {
        verb: "b",
        changes: Array.from({ length: 21 }, (_, n) => ({ field: `f${n}`, before: null, after: "1" }))
      }
    ]
    printed.length = 0
    await asks("audit")
    answered = []
    const lines = String(printed[0]).split("\n")
    assert.deepStrictEqual(lines[3], '      limits: {"daySats":1000} → -')
    assert.deepStrictEqual(lines.slice(-2), ["      f19: - → 1", "      and 1 more: --json shows all"])
  })

  it("command line: reconcile exits with 2 if it found a discrepancy, and with 3 if there is no recent comparison", async () => {
    const side = {
      owned_sats: 1,
      own_sats: null,
      ledger_sats: 1,
      on_its_way_sats: [0, 0],
      unexplained_sats: 0
    }
    const totals = {
      assets_sats: 1,
      liabilities_sats: 1,
      forwarding_sats: 0,
      channel_costs_sats: 0,
      accounts: {}
    }
    const found = { differences_by_cause: {}, differences: [] }
    const recent = {
      reconciled_at: "2026-01-01T00:00:00Z",
      is_behind: false,
      is_outdated: false,
      node: side,
      on_chain: side,
      ...totals,
      ...found
    }
    const difference = {
      cause: "unknown_payment",
      about: "one",
      ours_sats: null,
      theirs_sats: 1,
      since: recent.reconciled_at
    }
    const before = process.exitCode
    for (const [report, code] of [
      [recent, before],
      [{ ...recent, differences: [difference] }, 2],
      [{ ...recent, is_outdated: true, differences: [difference] }, 2],
      [{ ...recent, is_outdated: true }, 3],
      [null, 3]
    ] as const) {
      answered = { report, waiting: {} }
      assert.include(await said("reconcile"), "Noted")
      assert.strictEqual(process.exitCode, code)
      process.exitCode = before
    }
    answered = []
  })

  it("command line: a key that awaits a second operator's approval is marked in the list, and its issue names the next command", async () => {
    answered = [
      { id: "7Kq2mVx9TbZc", name: "till", approval: "pending" },
      { id: "8Kq2mVx9TbZc", name: "old", approval: null }
    ]
    const list = await said(`keys list ${whole}`)
    assert.match(list, /^ *id +name +scopes +approval /m)
    assert.match(list, /7Kq2mVx9TbZc +till +- +pending /)
    for (const [command, next] of [
      [`keys issue ${whole} --name till`, "keys approve"],
      ["keys rotate 7Kq2mVx9TbZc", "keys approve"],
      ["platform-keys issue --name shops --scopes send", "platform-keys approve"],
      ["people invite --name Ada", "people approve"],
      [`people recover ${whole}`, "people approve"]
    ] as const) {
      answered = { id: "7Kq2mVx9TbZc", approval: "pending" }
      assert.strictEqual(
        (await said(command)).split("\n").at(-1),
        `  A second operator must run: satrail ${next} 7Kq2mVx9TbZc`
      )
      assert.deepStrictEqual(JSON.parse(await said(`${command} --json`)), answered)
      answered = { id: "7Kq2mVx9TbZc", approval: null }
      assert.notInclude(await said(command), "second operator")
    }
    answered = []
  })

  it("command line: a command of a program's own feature calls its route, and completes a shortened id", async () => {
    const box = Argument.String("box")
    const boxes = Command.make("boxes").pipe(
      Command.withSubcommands([
        action("open", box, "POST", (id) => `/operator/boxes/${id}/open`, "Open a box")
      ])
    )
    const collections = { "/operator/boxes": { noun: "box", isUnpaged: true } } as const
    const line = withOwn([{}, { commands: { commands: { Ledger: [boxes] }, collections } }])
    answered = [{ id: whole }]
    assert.deepStrictEqual(await asks(`boxes open ${whole.slice(0, 8)}`, line), [
      "GET /operator/boxes",
      `POST /operator/boxes/${whole}/open`
    ])
    answered = []
    assert.isEmpty(await asks(`boxes open ${whole}`))
  })

  it("command line: an export that the service refuses did not begin, so only the refusal is printed, and no file is left", async () => {
    refusal = { code: "malformed", issues: [{ path: "from", message: "from must be a timestamp" }] }
    for (const command of [
      "export --from 2026-11-01",
      "audit --from 2026-11-01 --format csv",
      `statement ${whole} 2026-11 --html`
    ])
      for (const to of command.startsWith("statement")
        ? [""]
        : ["", ` --output ${join(directory, "refused")}`]) {
        const { exit } = await Effect.runPromise(run(command + to, env))
        const error = Exit.findErrorOption(exit)
        assert.strictEqual(
          Option.getOrUndefined(error)?.message,
          "Refused (malformed):\n  from must be a timestamp",
          command
        )
      }
    refusal = undefined
    assert.notMatch(String(await readdir(directory)), /refused/)
  })

  it("command line: a rejected credential is reported with the variable that has it", async () => {
    refusal = { status: 401, code: "unauthorized" }
    for (const [command, name] of [
      ["backlog", "SATRAIL_OPERATOR_TOKEN"],
      ["export", "SATRAIL_OPERATOR_TOKEN"],
      ["refunds list", "SATRAIL_API_KEY"]
    ] as const) {
      const { exit } = await Effect.runPromise(run(command, { ...env, SATRAIL_API_KEY: "a key" }))
      const said = Option.getOrUndefined(Exit.findErrorOption(exit))?.message
      assert.strictEqual(said, `Refused (unauthorized)\n  ${url} rejected the one in ${name}.`)
    }
    refusal = undefined
  })

  it("command line: a command accepts a company's name instead of its id, and a unique prefix instead of any id", async () => {
    const acme = { id: whole, name: "Acme" }
    const lookup = "GET /operator/companies?limit=1000&search=acme"
    answered = [acme, { id: other, name: "Acme Ltd" }]
    assert.deepStrictEqual(await asks("freeze acme --reason drill"), [
      lookup,
      `POST /operator/companies/${whole}/freeze`
    ])
    assert.deepStrictEqual(await asks("export acme --format jsonl"), [
      lookup,
      `GET /operator/companies/${whole}/transactions/export?format=jsonl`
    ])
    assert.deepStrictEqual(await asks("audit --company acme"), [
      lookup,
      `GET /operator/audit?company_id=${whole}`
    ])
    assert.deepStrictEqual(await asks("people list acme"), [
      lookup,
      `GET /operator/people?company_id=${whole}`
    ])
    assert.deepStrictEqual(await asks("adjustments request acme --sats 5 --reason drill"), [
      lookup,
      "POST /operator/adjustments"
    ])
    answered = [
      { id: other, kind: "withdrawals" },
      { id: whole, kind: "checkouts" }
    ]
    assert.deepStrictEqual(await asks("withdrawals show 01a1"), [
      "GET /operator/search?text=01a1",
      `GET /operator/withdrawals/${other}`
    ])
    answered = []
  })

  it("command line: a command with an ambiguous name or prefix, or with only part of a name, changes nothing", async () => {
    answered = [
      { id: whole, name: "Acme" },
      { id: other, name: "Acme Ltd" }
    ]
    for (const typed of [
      "freeze 01a1 --reason drill",
      "freeze ltd --reason drill",
      "freeze nobody --reason drill"
    ])
      assert.lengthOf(await asks(typed), 1, typed)
    assert.lengthOf(
      await asks("companies show ltd"),
      2,
      "part of a name is enough for a command that only reads"
    )
    const { exit } = await Effect.runPromise(run("companies show 01a1", env))
    assert.match(String(exit), /"01a1" matches more than one company \(2\)[^]*Acme Ltd/)
    answered = []
  })

  it("command line: a withdrawal is shown with its steps, the time between them, and what it is waiting for", async () => {
    answered = {
      id: whole,
      amount_sats: 1500,
      waits_for: "The node's final result",
      attempts: 2,
      next_look_at: "2026-01-31T12:05:00.000Z",
      answer: "on its way",
      timeline: [
        { at: "2026-01-31T12:00:00.000Z", what: "requested", detail: "ann@wallet.example" },
        { at: "2026-01-31T12:00:00.250Z", what: "approved", detail: null },
        { at: "2026-01-31T13:30:05.000Z", what: "dispatched", detail: "abc" }
      ]
    }
    const { stdout } = await Effect.runPromise(run(`withdrawals show ${whole}`, env))
    assert.deepStrictEqual(stdout.split("\n"), [
      "Noted",
      `  id           ${whole}`,
      "  amount_sats  1500",
      "",
      "Timeline (UTC)",
      "  2026-01-31 12:00:00           requested   ann@wallet.example",
      "  2026-01-31 12:00:00  +250 ms  approved",
      "  2026-01-31 13:30:05  +1 h     dispatched  abc",
      "  waits for: The node's final result",
      "  attempts: 2",
      "  next check: 2026-01-31 12:05:00",
      "  node or chain: on its way"
    ])
    answered = []
  })

  it("command line: tables and records show companies by name and values in words, without JSON", async () => {
    answered = [
      {
        id: whole,
        name: "Acme",
        company_id: whole,
        received_sats: 5,
        assigned_to: whole,
        created_at: null,
        reason: { code: "paid twice", invoice: { sats: 5 } }
      }
    ]
    assert.strictEqual(
      (await said("suspense list")).replaceAll(/ +/g, " "),
      [
        "Noted",
        " id company received_sats created_at reason requested_for requested_by assigned_to deposit_id",
        ` ${whole} Acme 5 - code paid twice, invoice (sats 5) - - Acme -`
      ].join("\n")
    )
    answered = { id: whole, limits: { day_sats: 5, recipients: ["a", "b"] }, scopes: [] }
    assert.strictEqual(
      await said(`companies show ${whole}`),
      `Noted\n  id           ${whole}\n  limits\n    day_sats     5\n    recipients   a, b\n  scopes       none`
    )
    answered = []
  })

  it("command line: with a credential that cannot read companies, ids stay", async () => {
    const names = await Effect.runPromise(
      Names.namesOf([{ company_id: whole }], () => Effect.fail("forbidden"))
    )
    assert.deepStrictEqual(Names.withNames(names)({ company_id: whole }), { company: whole })
  })

  it("command line: the beginning of the id follows the name of companies that share it", async () => {
    const names = await Effect.runPromise(
      Names.namesOf([{ company_id: whole }], () =>
        Effect.succeed({
          data: [
            { id: whole, name: "Acme" },
            { id: "11a1f768-1c70-748e-8579-81b7373e859a", name: "Acme" }
          ]
        })
      )
    )
    assert.strictEqual(names.get(whole), "Acme (01a1f768-1c70)")
  })

  for (const words of ["help", "help companies create"])
    it(`command line: \`${words}\` prints the same as --help`, async () => {
      const help = await Effect.runPromise(run(words, env))
      const flag = await Effect.runPromise(run(`${words.slice("help ".length)} --help`, env))
      assert.deepStrictEqual(
        [help.stdout, help.stderr, help.exit._tag],
        [flag.stdout, flag.stderr, "Success"]
      )
      assert.match(help.stdout, /satrail/)
    })

  it("command line: a service that can't be reached is reported in one line with the cause", async () => {
    const closed = createServer()
    const at = `http://127.0.0.1:${await boundPort(closed.listen(0, "127.0.0.1"))}`
    await promisify(closed.close.bind(closed))()
    for (const [where, cause] of [
      [at, "connect ECONNREFUSED 127[.]0[.]0[.]1:\\d+"],
      ["http://nowhere.invalid", "getaddrinfo \\w+ nowhere[.]invalid"]
    ] as const) {
      const { exit } = await Effect.runPromise(run("status", { ...env, SATRAIL_URL: where }))
      const error = Exit.findErrorOption(exit)
      assert.match(
        error._tag === "Some" ? Object(error.value).message : "",
        new RegExp(`^${where} can't be reached: ${cause}[.] Is the service running[?]$`)
      )
    }
  })
})
