import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Storage from "@satrail/service/postgres/Storage"
import { parse } from "csv-parse"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { pipeline, Readable } from "node:stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Http from "../../http/test/Service.ts"
import * as Database from "../../postgres/test/Database.ts"

// Exports a company's many transactions over HTTP from a PostgreSQL server. `EXPORT_ROWS=1000000` tests the
// size the service is designed for.

const count = Number(process.env["EXPORT_ROWS"] ?? 30_000)

const step = 50_000

/**
 * Maximum number of rows per file. An export that takes more than 15 minutes is aborted, so more rows must be
 * exported as several periods.
 */
const perFile = 1_000_000

/** The maximum growth of memory use, regardless of the export's size. */
const growthBytes = 12 * 1024 * 1024

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")
const inUse = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

const startMillis = 1_700_000_000_000

const inMiB = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

const id = (kind: number) =>
  `(lpad(to_hex(${startMillis} + n), 12, '0') || '7${kind}8000' || lpad(to_hex(n), 12, '0'))::uuid`

/** One transaction in three is a settled withdrawal with both fees. The others are deposits. */
const fill = (companyId: string, from: number, to: number) => `
insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, absorbed, revision, metadata, created_at_millis, updated_at_millis)
select ${id(100)}, '${companyId}', ${id(200)}, 'lnbcrt' || n, 100000 + n % 997, 'regtest', 'lightning', 'settled', 0, 0,
  json_build_object('order', n::text, 'note', '=1+' || n), ${startMillis} + n, ${startMillis} + n
from generate_series(${from}, ${to}) n where n % 3 <> 0;
insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail, network, metadata,
  status, payment_hash, rate, rate_at_millis, created_at_millis, updated_at_millis)
select ${id(300)}, '${companyId}', ${id(400)}, 1000 + n % 991, n % 7, n % 11, 'lnbcrt' || n, 'lightning_invoice', 'lightning', 'regtest',
  json_build_object('order', n::text), 'settled', lpad(to_hex(n), 64, '0'), '65000.5', ${startMillis} + n, ${startMillis} + n, ${startMillis} + n
from generate_series(${from}, ${to}) n where n % 3 = 0;
with booked as (
insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
select '${companyId}', case when n % 3 = 0 then ${id(400)} else ${id(200)} end, p.source, p.target, p.amount, ${startMillis} + n
from generate_series(${from}, ${to}) n cross join lateral (values
  (0, 1, 'available', 'held', 1000 + n % 991 + n % 7 + n % 11), (0, 2, 'held', 'node', 1000 + n % 991), (0, 3, 'held', 'service_fees', n % 7),
  (0, 4, 'held', 'network_fees', n % 11), (1, 1, 'node', 'available', 100000 + n % 997)
) as p(kind, place, source, target, amount)
where p.kind = least(n % 3, 1) and p.amount > 0 order by n, p.place
returning from_account, to_account, amount)
update satrail.balances set posted = posted + (
  select sum(amount * ((to_account in ('available', 'held'))::int - (from_account in ('available', 'held'))::int)) from booked
) where company_id = '${companyId}';`

const msat = (sats: string): bigint => {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,3}))?$/.exec(sats) ?? []
  return whole === "" ? 0n : BigInt(`${sign}${whole}${fraction.padEnd(3, "0")}`)
}

describe.skipIf(Database.server === undefined)(
  "a large export (skipped where there is no PostgreSQL server)",
  () => {
    const runtime = ManagedRuntime.make(Layer.provideMerge(Storage.layerClient(), Database.layer))
    afterAll(() => runtime.dispose())

    it(
      `export: ${count} transactions add up exactly to the ledger and are exported in constant memory; a disconnect ends the export`,
      async () => {
        const service = await Http.start({
          storage: Layer.effectContext(Effect.orDie(runtime.contextEffect))
        })
        const { id: companyId, key } = await service.company("paid")
        const sql = await runtime.runPromise(SqlClient.SqlClient)
        // Fill in steps, because a client's query times out after 30 seconds.
        for (let from = 1; from <= count; from += step)
          await runtime.runPromise(
            sql.unsafe(fill(companyId, from, Math.min(from + step - 1, count))).unprepared
          )
        await runtime.runPromise(sql.unsafe("analyze").unprepared)
        const [ledger] = await runtime.runPromise(
          sql.unsafe<{ readonly posted: string }>(
            "select posted::text from satrail.balances where posted > 0"
          )
        )
        const ask = (from = 1, to = count) => {
          const [first, after] = [from, to + 1].map((n) => new Date(startMillis + n).toISOString())
          return service.handler(
            new Request(
              `http://service/v1/transactions/export?metadata_keys=order&from=${first}&until=${after}`,
              {
                headers: { authorization: `Bearer ${key}` }
              }
            )
          )
        }

        let [lines, fees, total, closing, firstMillis] = [0, 0n, 0n, 0n, 0]
        const heap: Array<number> = []
        const began = performance.now()
        for (let from = 1; from <= count; from += perFile) {
          const asked = performance.now()
          const response = await ask(from, Math.min(from + perFile - 1, count))
          assert.strictEqual(response.status, 200)
          const { body } = response
          if (body === null) return assert.fail("no body")
          firstMillis = Math.max(firstMillis, performance.now() - asked)
          // An aborted file must fail its reader. With `pipe`, the reader would keep waiting.
          const rows = pipeline(
            Readable.fromWeb(body as unknown as Parameters<typeof Readable.fromWeb>[0]),
            parse({ columns: true, record_delimiter: "\r\n" }),
            () => {}
          )
          for await (const row of rows) {
            if (row.type === "opening")
              assert.strictEqual(
                msat(row.balance_sats),
                closing,
                "a file begins where the previous one ended"
              )
            else if (row.type === "closing") closing = msat(row.balance_sats)
            else {
              lines++
              total += msat(row.total_sats)
              fees += msat(row.service_fee_sats) + msat(row.network_fee_sats)
              if (msat(row.balance_sats) !== total)
                assert.fail(`the balance on line ${lines} differs from the sum of the lines up to it`)
              if (lines % Math.ceil(count / 8) === 0) heap.push(inUse())
            }
          }
        }
        const millis = performance.now() - began
        const month = (await service.ask("GET", "/v1/statements/2023-11", { key })).body.data
        const statementMillis = performance.now() - began - millis
        console.log(
          `export of ${count}: ${Math.round(millis)} ms (first byte ${Math.round(firstMillis)} ms), statement ${Math.round(statementMillis)} ms, heap in MiB ${heap.map(inMiB).join(" ")}, most resident ${inMiB(process.resourceUsage().maxRSS * 1024)}`
        )
        assert.strictEqual(lines, count)
        assert.deepStrictEqual([closing, total], [BigInt(ledger?.posted ?? 0), BigInt(ledger?.posted ?? 0)])
        const inMsat = (sats: number) => BigInt(Math.round(sats * 1000))
        assert.deepStrictEqual([inMsat(month.fees_sats), inMsat(month.closing_sats)], [-fees, closing])
        assert.isBelow(Math.max(...heap.slice(1)) - (heap[0] ?? 0), growthBytes)

        // Disconnecting must free a slot. This check fails if the export keeps running.
        for (let i = 0; i < 5; i++) {
          const left = await ask()
          assert.strictEqual(left.status, 200)
          const reader = left.body?.getReader()
          await reader?.read()
          await reader?.cancel()
        }
        await service.dispose()
      },
      600_000 + count
    )
  }
)
