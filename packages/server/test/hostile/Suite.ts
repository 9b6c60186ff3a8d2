import { assert } from "@effect/vitest"
import * as Ledger from "@satrail/contracts/Ledger"
import { Companies } from "@satrail/core/accounts/Companies"
import { Readiness } from "@satrail/http/api/Readiness"
import { WaitMillis } from "@satrail/features/webhooks/http/WebhookTest"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as Random from "@satrail/testing/Random"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { operatorToken, skippingTime, start } from "../../../http/test/Service.ts"
import { differences } from "../../../http/test/Watched.ts"
import * as Environment from "../../src/deployment/Environment.ts"
import * as Server from "../../src/serving/Server.ts"
import { type Draft, requestOf, shortest, show, simpler, wireOf } from "./Draft.ts"
import * as Generator from "./Generator.ts"
import * as Judge from "./Judge.ts"
import * as Seen from "./Seen.ts"
import type * as Store from "./Store.ts"

/** HOSTILE_SEED=7 generates different requests. */
const seed = Number(process.env["HOSTILE_SEED"] ?? 1)

/** The background workers run after every batch of this many requests. */
const workEvery = 250

/** The wallet routes, which no OpenAPI document describes. */
const walletPaths: ReadonlyArray<readonly [path: string, ...query: ReadonlyArray<string>]> = [
  ["/.well-known/lnurlp/{user}"],
  ["/lnurlp/{domain}/{user}"],
  ["/lnurlp/{domain}/{user}/callback", "amount", "comment", "payerdata", "nostr"],
  ["/lnurlp/{domain}/{user}/verify/{payment_hash}"],
  ["/lnurlw", "k1"],
  ["/lnurlw/callback", "k1", "pr"]
]
const wallets = walletPaths.map(([path, ...query]): OpenApi.Operation => {
  const segments = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name)
  const text = { type: "string" }
  return {
    name: `GET ${path}`,
    method: "GET",
    path,
    description: "",
    opens: [],
    parameters: [
      ...segments.map((name) => ({ in: "path" as const, name, required: true, schema: text })),
      ...query.map((name) => ({ in: "query" as const, name, required: name !== "nostr", schema: text }))
    ],
    body: undefined,
    example: undefined,
    answers: new Map(),
    others: new Map()
  }
})

/** Requests that are valid only as the next step of a scenario, which random requests do not reach. */
const unlikely = new Set([
  "GET /readyz/{check}",
  "POST /sandbox/release",
  // Most known invoices are already paid or canceled. `amount` must match the invoice, and is required if the
  // invoice has none.
  "POST /sandbox/pay",
  // A hold invoice would have to be paid first.
  "POST /v1/bitcoin/deposit/lightning-invoice/{invoiceID}/settle",
  "GET /lnurlw/callback",
  "GET /lnurlp/{domain}/{user}/verify/{payment_hash}",
  // These start from an event or from a completed delivery, and nothing accepts deliveries here.
  "POST /v1/webhook-endpoints/{id}/replay",
  "POST /operator/webhook-endpoints/{id}/replay",
  "POST /v1/webhook-deliveries/{id}/resend",
  "POST /operator/webhook-deliveries/{id}/resend",
  // Nothing awaits approval by a second key, because limits are removed before the next request.
  "POST /v1/transactions/withdrawals/{withdrawalID}/approve",
  "POST /v1/transactions/withdrawals/{withdrawalID}/reject",
  "POST /operator/withdrawals/{id}/reject",
  // All operators share one token here, and an adjustment or a person who can send needs two.
  "POST /operator/adjustments/{id}/approve",
  "POST /operator/people/{id}/approve",
  "GET /v1/transactions/adjustments/{adjustmentID}",
  // The refund must have been made by link, and not be claimed or canceled.
  "POST /v1/refunds/{id}/cancel",
  // No response to this company contains the id of another one.
  "POST /v1/transfers",
  // The wallet makes no transaction that the database lacks.
  "POST /operator/withdrawals/{id}/book",
  // The node loses no payment here.
  "POST /operator/withdrawals/{id}/settle",
  "POST /operator/withdrawals/{id}/release",
  // No invoice is paid twice here, so nothing is in suspense.
  "POST /operator/suspense/{id}/assign",
  // These stores cannot move the clock or be reset.
  "POST /sandbox/clock",
  "POST /sandbox/reset"
])

/** Requests that cause failures on purpose. Responses during such a failure are not reported. */
const breaking = new Set(["POST /sandbox/fault", "POST /sandbox/webhooks/{name}/fail"])

/**
 * The operator's requests to stop or limit something, which must be accepted or rejected like others. An
 * accepted one is undone before the next request. Otherwise a paused service, a frozen company or a limit of
 * one sat per day would cause thousands of rejections, and the run would not test payments.
 */
const undoing: Readonly<
  Record<string, (target: string) => ReadonlyArray<readonly [method: string, target: string, body: object]>>
> = {
  "POST /operator/pause": () =>
    ["sending", "receiving"].map((what) => ["POST", "/operator/resume", { what }]),
  "POST /operator/companies/{id}/freeze": (target) => [
    ["POST", `${target.slice(0, target.lastIndexOf("/"))}/unfreeze`, {}]
  ],
  "PUT /operator/companies/{id}/limits": (target) => [["PUT", target, {}]],
  "PUT /operator/api-keys/{id}/allowed-from": (target) => [["PUT", target, { allowed_from: null }]],
  "PUT /operator/companies/{id}/fees": (target) => [["PUT", target, {}]],
  "PUT /operator/api-keys/{id}/limits": (target) => [["PUT", target, {}]],
  "PATCH /operator/companies/{id}/limits": (target) => [["PUT", target, {}]],
  "PATCH /operator/companies/{id}/fees": (target) => [["PUT", target, {}]],
  "PATCH /operator/api-keys/{id}/limits": (target) => [["PUT", target, {}]]
}

/** Operations that disable a key. They are allowed for every key except the run's own. */
const closing = new Set([
  "DELETE /v1/api-keys/{id}",
  "DELETE /operator/api-keys/{id}",
  "POST /operator/api-keys/{id}/rotate"
])

/**
 * Operations that take long when they succeed, because they wait for every process or mine blocks. They are
 * requested less often.
 */
const slow = new Set([
  "DELETE /operator/api-keys/{id}",
  "DELETE /v1/api-keys/{id}",
  "DELETE /v1/bitcoin/deposit/lightning-address/{id}",
  "PATCH /operator/api-keys/{id}/limits",
  "PATCH /operator/companies/{id}",
  "PATCH /operator/companies/{id}/fees",
  "PATCH /operator/companies/{id}/limits",
  "POST /operator/api-keys/{id}/rotate",
  "POST /operator/companies/{id}/freeze",
  "POST /operator/companies/{id}/unfreeze",
  "POST /operator/pause",
  "POST /operator/resume",
  "POST /sandbox/mine",
  "POST /sandbox/reorg",
  "PUT /operator/api-keys/{id}/allowed-from",
  "PUT /operator/api-keys/{id}/limits",
  "PUT /operator/companies/{id}/fees",
  "PUT /operator/companies/{id}/limits"
])

/** A service on a store, with all possible callers. */
export const open = async (store: Store.Store) => {
  const { context, company, keyFor, fund, work, run, lightningAddress, ask, sandbox, dispose } = await start({
    storage: store.layer,
    settings: { domain: "pay.example.com" }
  })
  const [ours, other] = [await company(), await company()]
  for (let i = 0; i < 5; i++) await fund(ours.key, 1_000_000)
  await fund(other.key, 10_000)
  await lightningAddress(ours.key, "satoshi")
  // Random requests only confirm a withdrawal late in a run, but operations that read a withdrawal need one
  // earlier.
  const { destination } = await sandbox((network) => network.destination({ type: "lightning_address" }))
  const sent = await ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key: ours.key,
    body: { amount: 1000, currency: "sats", destination }
  })
  assert.strictEqual(sent.status, 201, sent.text)
  for (const description of ["first", "second", "third"]) {
    const body = { to: ours.id, amount: 1000, currency: "sats", description }
    const transferred = await ask("POST", "/v1/transfers", { key: other.key, body })
    assert.strictEqual(transferred.status, 201, transferred.text)
  }
  await run(Effect.flatMap(Companies, ({ verifyDomain }) => verifyDomain(ours.id, "own.example")))
  await run(
    Effect.flatMap(SimulatedDns.SimulatedDns, ({ set }) =>
      set("_satrail-verify.own.example", [`satrail-verify=${ours.id}`])
    )
  )
  const scoped = await Promise.all(
    (["read", "receive", "send"] as const).map((scope) => keyFor(ours.id, scope))
  )
  const environment = Result.getOrThrow(
    Environment.read({
      PORT: "0",
      SATRAIL_DOMAIN: "pay.example.com",
      SATRAIL_REQUESTS_PER_STRANGER: "0",
      SATRAIL_SHUTDOWN_SECONDS: "1"
    })
  )
  const services = Context.add(Context.add(context, Readiness, []), WaitMillis, 20)
  const token = Redacted.make(operatorToken)
  return {
    store,
    work,
    routes: Layer.merge(Server.routes(environment, token, services), skippingTime),
    server: Server.server(environment, token, services),
    keys: { right: { apiKey: ours.key, operatorToken }, others: [...scoped, other.key, `${ours.key}x`] },
    audit: () => run(Ledger.auditAll),
    dispose: async () => {
      await dispose()
      await store.close()
    }
  }
}
export type World = Awaited<ReturnType<typeof open>>

/** Sends a draft. Returns undefined if this transport cannot express it. */
export type Send = (draft: Draft) => Promise<Judge.Answer | undefined>

/**
 * The first read of a company's events records them (docs/decisions/events.md#0081), in memory as `publicEvents` and in
 * PostgreSQL as `told_events`. A rejected key is recorded in the audit log (docs/decisions/access.md#0090).
 */
const writtenByReading = ["publicEvents", "told_events", "audit_entries"]

/**
 * Reading a month's statement closes the month (docs/decisions/features.md#0120). In memory, every record is
 * also stored in `names` and `lists`.
 */
const writtenByStatements = ["month_ends", "names", "lists"]

const mayBeWritten = (draft: Draft): ReadonlySet<string> =>
  new Set([
    ...writtenByReading,
    ...(Judge.isRead(draft) && draft.operation.path.includes("/statements/") ? writtenByStatements : [])
  ])

/** Sends a draft and returns the response with its problems. */
const judge = async ({ store }: World, document: OpenApi.Document, draft: Draft, send: Send) => {
  const before = await store.look()
  const answer = await send(draft)
  if (answer === undefined) return undefined
  const mustStay = Judge.isRefusal(draft, answer) || Judge.isRead(draft)
  const written = mayBeWritten(draft)
  const changed = mustStay
    ? differences(before, await store.look()).filter((table) => !written.has(table))
    : []
  return {
    answer,
    problems: [
      ...Judge.problems(document, draft, answer),
      ...(changed.length === 0 ? [] : [`${changed.join(", ")} changed`])
    ]
  }
}

/** Calls a web handler directly, without a connection. */
export const inProcess =
  (handler: (request: Request) => Promise<Response>): Send =>
  async (draft) => {
    const request = requestOf(draft)
    if (request === undefined) return undefined
    const response = await handler(request)
    return {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      text: await OpenApi.textOf(response)
    }
  }

const any = (_: OpenApi.Operation) => true

/** Returns whether the operation leaves the service running without a new stop or limit. */
export const leavesRunning = ({ name }: OpenApi.Operation) => undoing[name] === undefined

/**
 * Reads the service's OpenAPI documents and drafts requests for `some` of their operations. `seen` lets later
 * requests refer to earlier responses.
 */
export const read = async ({ keys }: World, send: Send, some = any) => {
  const [customers, operators] = [
    await send(draftOf("/openapi.json")),
    await send(draftOf("/operator/openapi.json"))
  ]
  const document = OpenApi.read(JSON.parse(customers?.text ?? ""), JSON.parse(operators?.text ?? ""))
  const operations = [...document.operations, ...wallets].filter(
    (one) => some(one) && !breaking.has(one.name)
  )
  const random = Random.make(seed)
  const seen = Seen.make()
  // Random requests rarely satisfy several conditions at once, so operations that have never succeeded are
  // requested more often.
  const untaken = new Set(operations.filter(({ name }) => !unlikely.has(name)))
  const draft = Generator.make(random, document, operations, keys, seen)
  // If the run's own key were disabled, all later requests would be rejected for that reason. Compare without
  // the first character of the key's id, because it may be percent-encoded.
  const ownKey = (keys.right.apiKey.split("_")[2] ?? assert.fail("a key without an id")).slice(1)
  const closesOwnKey = ({ operation, target }: Draft) =>
    closing.has(operation.name) && target.includes(ownKey)
  const next = (): Draft => {
    const made = draft(untaken.size > 0 && random.chance(0.3) ? random.pick([...untaken]) : undefined)
    return closesOwnKey(made) || (slow.has(made.operation.name) && !random.chance(0.15)) ? next() : made
  }
  return { document, operations, random, seen, next, untaken }
}

/** Formats a failure. */
export const told = (
  at: number,
  problems: ReadonlyArray<string>,
  least: Buffer,
  again: Judge.Answer | undefined
): string =>
  [
    `HOSTILE_SEED=${seed}, request ${at}: ${problems.join("; ")}`,
    `the shortest request that fails in this way: ${show(least)}`,
    `and its response: ${again?.status} ${again?.text.slice(0, 2000)}`
  ].join("\n")

/** Undoes a stop or limit set by this request. */
const undo = async ({ keys }: World, { operation, target, isBent }: Draft, send: Send) => {
  for (const [method, where, body] of undoing[operation.name]?.(target) ?? []) {
    const asked = draftOf(where)
    const undone = await send({
      ...asked,
      method,
      headers: [
        ...asked.headers,
        ["content-type", "application/json"],
        ["authorization", `Bearer ${keys.right.operatorToken}`]
      ],
      body: Buffer.from(JSON.stringify(body))
    })
    // All operators share one token here. Without the limits of a key that can send, money could be taken, so
    // another operator would have to remove them.
    if (undone?.text.includes('"second_operator_required"') === true) continue
    // A draft with a changed method, path or headers may have reached a different operation.
    if (!isBent) assert.strictEqual(undone?.status, 200, `${where}: ${undone?.text}`)
  }
}

/**
 * Sends `count` requests to a service. If a response is wrong, fails with the shortest request that causes it.
 * Returns the operations that accepted a request, and those that rejected one.
 */
export const sendAll = async (world: World, count: number, send: Send, some = any) => {
  const { document, operations, seen, next, untaken } = await read(world, send, some)
  const good = new Set<string>()
  const refused = new Set<string>()
  for (let sent = 0; sent < count;) {
    const draft = next()
    const judged = await judge(world, document, draft, send)
    if (judged === undefined) continue
    const { answer, problems } = judged
    if (problems.length > 0) {
      const fails = async (one: Draft) =>
        (await judge(world, document, one, send))?.problems.join() === problems.join()
      const least = await shortest(draft, simpler, fails)
      assert.fail(told(sent, problems, wireOf(least), await send(least)))
    }
    sent += 1
    if (!draft.isBent) (Judge.isRefusal(draft, answer) ? refused : good).add(draft.operation.name)
    if (good.has(draft.operation.name)) untaken.delete(draft.operation)
    if (answer.status < 400 && answer.type.startsWith("application/json") && answer.text !== "") {
      const told: unknown = JSON.parse(answer.text)
      await undo(world, draft, send)
      seen.note(draft.operation.name, told)
    }
    if (sent % workEvery === 0) await world.work()
  }
  await world.audit()
  return { operations, good, refused }
}

/** The operations that never accepted a request, and those that never rejected one. They remain untested. */
export const unknown = ({ operations, good, refused }: Awaited<ReturnType<typeof sendAll>>) => {
  const hasInput = ({ body, parameters }: OpenApi.Operation) => body !== undefined || parameters.length > 0
  const names = (all: ReadonlyArray<OpenApi.Operation>) => all.map(({ name }) => name)
  return {
    neverTaken: names(operations).filter((name) => !good.has(name) && !unlikely.has(name)),
    neverRefused: names(operations.filter(hasInput)).filter((name) => !refused.has(name))
  }
}

/** A request for one of the service's documents. */
const draftOf = (target: string): Draft => ({
  method: "GET",
  target,
  headers: [
    ["host", "pay.example.com"],
    ["connection", "close"]
  ],
  body: undefined,
  isBent: false,
  operation: {
    name: `GET ${target}`,
    method: "GET",
    path: target,
    description: "",
    opens: [],
    parameters: [],
    body: undefined,
    example: undefined,
    answers: new Map(),
    others: new Map()
  }
})
