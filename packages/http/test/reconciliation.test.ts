import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { all as features } from "@satrail/service/features/core"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Policy from "@satrail/core/service/Policy"
import { Cause } from "@satrail/core/reports/reconciliation/Difference"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import { Reconciliation } from "@satrail/core/reports/reconciliation/Reconciliation"
import { Context, Effect, Layer } from "effect"
import { bad, issuePaths, nextMillisecond, operatorToken, seen, start } from "./Service.ts"

const service = await start({
  settings: { reconciliation: { ...Policy.defaults.reconciliation, graceMillis: 0 } }
})
const usual = await start()
const away = new StoreUnavailable({ operation: "test", cause: "away" })
const silent = await start({
  instead: Context.make(
    Reconciliation,
    Reconciliation.of({
      last: Effect.fail(away),
      waiting: Effect.fail(away),
      stateOwnFunds: () => Effect.fail(away)
    })
  )
})
afterAll(() => Promise.all([service.dispose(), usual.dispose(), silent.dispose()]))

const path = "/operator/reconciliation"
const shown = async (of = service) => (await of.ask("GET", path, { key: operatorToken })).body
const compare = (of = service) =>
  of.run(
    Effect.scoped(
      Effect.flatMap(Layer.build(Layer.fresh(Reconciler.layer)), (built) =>
        Context.get(built, Reconciler.Reconciler).run()
      )
    )
  )
const gauges = async () =>
  new Map(
    (await service.ask("GET", "/operator/metrics", { key: operatorToken })).text
      .split("\n")
      .filter((line) => line.startsWith("satrail_"))
      .map(
        (line) =>
          [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))] as const
      )
  )

/** Our node pays an external payee without a withdrawal. */
const behindOurBack = async (sats: number, of = service) => {
  const { destination, paymentHash } = await of.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_invoice", amount: service.sats(sats) })
  )
  await of.run(
    Effect.gen(function* () {
      const invoice = yield* Effect.fromResult(Bolt11.decode(destination))
      return yield* (yield* LightningSender).pay({
        invoice,
        amount: service.sats(sats),
        feeLimit: service.sats(1000)
      })
    })
  )
  return paymentHash
}

describe("GET /operator/reconciliation", () => {
  it("reconciliation: before the first run, there is no report and the backlog is shown", async () => {
    const { message, data } = await shown()
    assert.match(message, /^No reconciliation run yet/)
    assert.isNull(data.report)
    assert.sameMembers(Object.keys(data.waiting), [...Waiting.kinds(features)])
    for (const kind of Waiting.kinds(features))
      assert.deepStrictEqual(data.waiting[kind], { count: 0, oldest_at: null, amount_sats: 0, oldest: [] })
  })

  it("metrics: before the first reconciliation, its age is the time since the process started, so that an alert fires", async () => {
    const age = (await gauges()).get("satrail_reconciliation_age_seconds")
    assert.isAtLeast(age ?? -1, 0)
    await nextMillisecond()
    assert.isAbove((await gauges()).get("satrail_reconciliation_age_seconds") ?? -1, age ?? 0)
  })

  it("reconciliation: the response shows the positions of node and wallet, the ledger, and the backlog with its age", async () => {
    await compare()
    const { key } = await service.company("paid")
    await service.fund(key, 50_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(500), behaviour: "hold" })
    )
    const body = { destination }
    const { body: confirmed } = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })
    await service.work()
    await compare()
    const { message, data } = await shown()
    assert.strictEqual(message, "No differences")
    const { report, waiting } = data
    const held = 500 + confirmed.data.fee_sats
    assert.deepStrictEqual(
      [
        report.liabilities_sats,
        report.accounts.available,
        report.accounts.held,
        report.accounts.node,
        report.is_behind
      ],
      [50_000, 50_000 - held, held, -50_000, false]
    )
    assert.deepStrictEqual([report.differences, report.differences_by_cause], [[], {}])
    assert.strictEqual(report.node.owned_sats, report.node.own_sats + report.node.ledger_sats)
    assert.deepStrictEqual(
      [report.node.ledger_sats, report.node.unexplained_sats, report.on_chain.ledger_sats],
      [50_000, 0, 0]
    )
    const { oldest, ...counted } = waiting.withdrawal_dispatched
    assert.deepStrictEqual(counted, { count: 1, oldest_at: confirmed.data.created_at, amount_sats: held })
    assert.deepStrictEqual([oldest[0].id, oldest[0].amount_sats, oldest.length], [confirmed.data.id, held, 1])
  })

  it("reconciliation: the response shows each discrepancy with its cause and the amounts of both sides", async () => {
    const paymentHash = await behindOurBack(700)
    await compare()
    const { message, data } = await shown()
    assert.strictEqual(message, "There are differences")
    const [payment, balance] = data.report.differences
    const { since, ...rest } = payment
    assert.match(since, /Z$/)
    assert.deepStrictEqual(rest, {
      cause: "payment_not_ours",
      about: paymentHash,
      company_id: null,
      record_id: null,
      ours_sats: null,
      theirs_sats: 700
    })
    assert.deepStrictEqual([balance.cause, balance.about], ["node_balance", "node"])
    assert.deepStrictEqual(data.report.differences_by_cause, { payment_not_ours: 1, node_balance: 1 })
    assert.isAtMost(data.report.node.unexplained_sats, -700)
  })

  it("reconciliation: while differences await confirmation, the message states their number and when, and not that there are none", async () => {
    await compare(usual)
    assert.strictEqual((await shown(usual)).message, "No differences")
    await behindOurBack(700, usual)
    await compare(usual)
    const { message, data } = await shown(usual)
    const { reconciled_at, differences, unconfirmed, confirmed_at, node } = data.report
    assert.isAtMost(node.unexplained_sats, -700)
    assert.deepStrictEqual([differences, unconfirmed], [[], 2])
    assert.strictEqual(
      Date.parse(confirmed_at) - Date.parse(reconciled_at),
      Policy.defaults.reconciliation.everyMillis
    )
    assert.strictEqual(message, `2 differences to be confirmed by the comparison at ${confirmed_at}`)
  })

  it("reconciliation: the message states since when an outdated report has not been renewed, and does not begin with its result", async () => {
    await compare(usual)
    const last = await usual.run(
      Effect.flatMap(
        Effect.flatMap(Reconciliation, ({ last }) => last),
        Effect.fromOption
      )
    )
    const { waiting, stateOwnFunds } = await usual.run(Reconciliation)
    const outdated = { last: Effect.succeedSome({ ...last, isOutdated: true }), waiting, stateOwnFunds }
    const late = await start({ instead: Context.make(Reconciliation, Reconciliation.of(outdated)) })
    const { message, data } = await shown(late)
    await late.dispose()
    assert.match(
      message,
      new RegExp(`^Outdated: no comparison since ${data.report.reconciled_at}\\. .* Result then: `)
    )
  })

  it("console: the Now page shows a mismatch and that the comparison with it is outdated", async () => {
    const last = await usual.run(
      Effect.flatMap(
        Effect.flatMap(Reconciliation, ({ last }) => last),
        Effect.fromOption
      )
    )
    const { waiting, stateOwnFunds } = await usual.run(Reconciliation)
    const [node, chain] = [last.node, last.chain].map((one) => ({ ...one, unexplained: Msat.zero }))
    const mismatch = {
      cause: "payment_fee",
      companyId: null,
      recordId: null,
      ours: Msat.zero,
      theirs: Msat.make(1000n)
    } as const
    const differences = [{ ...mismatch, about: "00".repeat(32), sinceMillis: 0 }]
    const outdated = { ...last, ...(node && chain && { node, chain }), differences, isOutdated: true }
    const instead = Context.make(
      Reconciliation,
      Reconciliation.of({ last: Effect.succeedSome(outdated), waiting, stateOwnFunds })
    )
    const late = await start({ http: { console: true }, instead })
    const headers = { cookie: await late.signIn(operatorToken), "sec-fetch-site": "same-origin" }
    const now = await (await late.handler(new Request("http://service/operator/console", { headers }))).text()
    await late.dispose()
    assert.include(now, "1 record doesn’t match the node or the chain")
    assert.include(now, "The ledger was last compared")
  })

  it("reconciliation: while the store is unavailable, the endpoint returns 503 but the other metrics are still reported", async () => {
    const key = operatorToken
    assert.deepStrictEqual(seen(await silent.ask("GET", path, { key })), bad(503, "store_unavailable"))
    assert.strictEqual((await silent.ask("GET", "/operator/metrics", { key })).status, 200)
  })
})

describe("reconciliation metrics", () => {
  it("metrics: the metrics report assets and liabilities, discrepancies by cause, and the age of the backlog", async () => {
    const told = await gauges()
    const { report, waiting } = (await shown()).data
    const of = (name: string) => told.get(`satrail_${name}`) ?? assert.fail(`there is no ${name}`)
    assert.deepStrictEqual(
      [
        of("assets_sats"),
        of("liabilities_sats"),
        of('owned_sats{account="node"}'),
        of('unexplained_sats{account="node"}')
      ],
      [report.assets_sats, report.liabilities_sats, report.node.owned_sats, report.node.unexplained_sats]
    )
    assert.strictEqual(of('account_sats{account="held"}'), report.accounts.held)
    for (const cause of Cause.literals)
      assert.strictEqual(of(`differences{cause="${cause}"}`), report.differences_by_cause[cause] ?? 0)
    assert.deepStrictEqual(
      [of('waiting{kind="withdrawal_dispatched"}'), of('waiting_sats{kind="withdrawal_dispatched"}')],
      [1, waiting.withdrawal_dispatched.amount_sats]
    )
    assert.isAbove(of('waiting_seconds{kind="withdrawal_dispatched"}'), 0)
    assert.strictEqual(of('waiting_seconds{kind="voucher_open"}'), 0)
    assert.isBelow(of("reconciliation_age_seconds"), 3600)
  })
})

describe("PATCH /operator/reconciliation/own-funds", () => {
  const state = (body: unknown) => service.ask("PATCH", `${path}/own-funds`, { key: operatorToken, body })

  it("operator equity: one amount can be set to the msat without changing the other", async () => {
    const { node, on_chain: onChain } = (await shown()).data.report
    const sats = node.own_sats + node.unexplained_sats
    const { status, body } = await state({ node_sats: sats })
    assert.deepStrictEqual([status, body.data], [200, { node_sats: sats, on_chain_sats: onChain.own_sats }])
    await compare()
    assert.deepStrictEqual((await shown()).data.report.differences_by_cause, { payment_not_ours: 1 })
  })

  it("operator equity: an invalid amount is rejected, and the error names the field", async () => {
    for (const body of [{ node_sats: 1.0001 }, { node_sats: "1" }, { node_sats: 1e300 }, { nodes: 1 }]) {
      const answer = await state(body)
      assert.deepStrictEqual(
        [answer.status, answer.body.error?.code, issuePaths(answer.body)],
        [400, "malformed", Object.keys(body)],
        answer.text
      )
    }
  })
})
