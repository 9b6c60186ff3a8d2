import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import path from "node:path"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

describe("the operator's view of the books", () => {
  let service: Service.Service
  beforeAll(() => {
    service = Service.make()
    return service.start({ SATRAIL_RECONCILE_SECONDS: "1" })
  })
  afterAll(() => service.end())

  const satrail = (...args: ReadonlyArray<string>) =>
    Service.run("cli", args, { SATRAIL_DATA: service.data }).ended

  const reconcile = async () => {
    const ended = await satrail("reconcile", "--json")
    assert.strictEqual(ended.stderr, "")
    return { code: ended.code, ...JSON.parse(ended.stdout) }
  }

  /** Waits for a reconciliation that reports this. */
  const reported = (isSo: (seen: Awaited<ReturnType<typeof reconcile>>) => boolean) =>
    Service.eventually("a comparison", reconcile, isSo)

  it("reconciliation: normal payments cause no discrepancy", async ({ onTestFailed }) => {
    onTestFailed(() => console.error(service.logs().join("\n")))
    const shop = await service.company("paid")
    await Customer.fund(shop, 100_000)
    const held = await Customer.outside(shop, "lightning_invoice", { amount_sats: 5000, behaviour: "hold" })
    await Customer.data(201, Customer.confirm(shop, held.destination, 5000))
    const gone = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
    await Customer.ends(
      shop,
      (await Customer.data(201, Customer.confirm(shop, gone.destination, 1000))).id,
      "settled"
    )

    const { code, report, waiting } = await reported(({ report }) => report?.node.ledger_sats >= 98_000)
    assert.deepStrictEqual([code, report.differences], [0, []])
    assert.isAtMost(report.liabilities_sats, report.assets_sats)
    assert.strictEqual(waiting.withdrawal_dispatched.count, 1)
    const said = await satrail("reconcile")
    for (const words of ["No differences", "node", "chain", "liabilities", "withdrawal_dispatched"])
      assert.include(said.stdout, words)
  })

  it("verify: if the service is running, the command names the process that uses the database and changes nothing", async () => {
    const ended = await satrail("verify")
    assert.strictEqual(ended.code, 1)
    assert.include(ended.stderr, "database")
  })

  it("reconciliation: a payment made directly on the node is a discrepancy until the operator records it", async ({
    onTestFailed
  }) => {
    onTestFailed(() => console.error(service.logs().join("\n")))
    await service.stop("SIGTERM")
    await Effect.runPromise(
      Effect.gen(function* () {
        const amount = Msat.fromSats(700)
        const { destination } = yield* (yield* Sandbox.Sandbox).destination({
          type: "lightning_invoice",
          amount
        })
        const invoice = yield* Effect.fromResult(Bolt11.decode(destination))
        yield* (yield* LightningSender).pay({ invoice, amount, feeLimit: amount })
      }).pipe(
        Effect.provide(
          Sandbox.layer({
            seed: "satrail",
            network: "regtest",
            directory: path.join(service.data, "sandbox")
          })
        )
      )
    )
    await service.start({ SATRAIL_RECONCILE_SECONDS: "1" })

    const { code, report } = await reported(({ report }) => report.differences.length === 2)
    assert.strictEqual(code, 2)
    assert.deepStrictEqual(report.differences_by_cause, { payment_not_ours: 1, node_balance: 1 })
    const [payment] = report.differences.filter(
      ({ cause }: { readonly cause: string }) => cause === "payment_not_ours"
    )
    assert.deepStrictEqual([payment.ours_sats, payment.theirs_sats], [null, 700])
    const said = await satrail("reconcile")
    for (const words of ["There are differences", "payment_not_ours", payment.about, "node_balance"])
      assert.include(said.stdout, words)
    assert.include(service.logs().join("\n"), "reconciliation: discrepancy")

    const own = report.node.own_sats + report.node.unexplained_sats
    const stated = await satrail("own-funds", "--node-sats", String(own), "--json")
    assert.deepStrictEqual([stated.code, JSON.parse(stated.stdout).node_sats], [0, own], stated.stderr)
    const after = await reported(({ report }) => report.node.own_sats === own)
    assert.deepStrictEqual(after.report.differences_by_cause, { payment_not_ours: 1 })
  })

  it("verify: checks the whole ledger of a stopped service and reports every violation", async () => {
    await service.stop("SIGTERM")
    const sound = await satrail("verify", "--json")
    assert.strictEqual(sound.code, 0, sound.stderr)
    const { companies, audit, ...rest } = JSON.parse(sound.stdout)
    assert.deepStrictEqual([companies > 1, rest], [true, { sound: true, stuck_sats: 0, faults: [] }])
    assert.deepStrictEqual([audit.entries > 0, audit.faults], [true, []])
    assert.include((await satrail("verify")).stdout, "are consistent")

    await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update satrail.invoices set preimage = ${"00".repeat(32)} where status = 'settled'`
        yield* sql`update satrail.deposits set amount = amount + 1000`
      }).pipe(Effect.provide(PgliteClient.layer({ directory: path.join(service.data, "database") })))
    )
    const faulty = await satrail("verify", "--json")
    assert.strictEqual(faulty.code, 2, faulty.stderr)
    const { sound: isSound, faults } = JSON.parse(faulty.stdout)
    assert.isFalse(isSound)
    assert.sameMembers(
      [...new Set(faults.map(({ kind }: { readonly kind: string }) => kind))],
      ["proof", "credit", "transfer"]
    )
    for (const { company_id, id } of faults)
      for (const one of [company_id, id]) assert.match(one, /^[0-9a-f-]{36}$/)
    const said = (await satrail("verify")).stdout
    for (const words of [
      "transfer (available)",
      "expected 100001, found 100000",
      "integrity violations in the books of"
    ])
      assert.include(said, words)
  })

  it("verify: a missing database is reported", async () => {
    const ended = await Service.run("cli", ["verify"], { SATRAIL_DATA: "/nowhere" }).ended
    assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
    assert.include(ended.stderr, "There is no database")
  })
})
