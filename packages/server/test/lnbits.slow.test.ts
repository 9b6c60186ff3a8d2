import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import * as Service from "./Service.ts"

describe("import from LNbits", () => {
  const directory = Service.directory()
  const file = path.join(directory, "database.sqlite3")
  const original = gunzipSync(readFileSync(path.join(import.meta.dirname, "lnbits/lnbits-1.6.2.sqlite3.gz")))
  const service = Service.make()
  let tokens = { ann: "", bob: "" }
  beforeAll(async () => {
    writeFileSync(file, original)
    await service.start()
    const issued = async (name: string, scopes: ReadonlyArray<string>): Promise<string> =>
      (await service.operate("/tokens", { name, scopes })).data.token
    tokens = {
      ann: await issued("Ann", ["read", "companies", "mend"]),
      bob: await issued("Bob", ["read", "mend"])
    }
  })
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await service.end()
  })

  const satrail = (args: ReadonlyArray<string>, token = tokens.ann) =>
    Service.run("cli", args, { SATRAIL_DATA: service.data, SATRAIL_OPERATOR_TOKEN: token }).ended

  const report = async (...args: ReadonlyArray<string>) => {
    const ended = await satrail(["import", "lnbits", file, "--json", ...args])
    assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
    return JSON.parse(ended.stdout)
  }

  const operator = async (route: string) =>
    (await service.ask("GET", `/operator${route}`, { key: tokens.bob })).data

  it("import: each LNbits wallet becomes one company, which gets the wallet's balance after a second operator approves", async () => {
    const before = (await operator("/companies?limit=1000")).length
    const planned = await report("--dry-run")
    assert.deepStrictEqual(
      (await operator("/companies?limit=1000")).length,
      before,
      "a dry run creates nothing"
    )
    const { rows, ...totals } = await report()
    assert.deepStrictEqual(totals, {
      wallets: 6,
      balance_sats: "51311",
      left_out: 0,
      left_out_sats: "0",
      deleted_sats: "100"
    })
    assert.deepStrictEqual({ ...planned, rows: [] }, { ...totals, rows: [] })
    assert.deepStrictEqual(
      rows.map(({ name, balance_sats, result }: Record<string, unknown>) => [name, balance_sats, result]),
      [
        ["LNbits wallet", "0", "imported"],
        ["Ann's shop", "49877", "imported"],
        ["Bob", "1357", "imported"],
        ["Ann's shop", "77", "imported"],
        ["Übung", "0", "imported"],
        ["Empty", "0", "imported"]
      ]
    )
    assert.deepStrictEqual(
      (await report()).rows,
      rows,
      "a repeated import finds the same companies and adjustments"
    )
    assert.strictEqual((await operator("/companies?limit=1000")).length, before + rows.length)
    for (const { adjustment_id: id, company_id: company, balance_sats: balance } of rows) {
      if (id !== null) {
        assert.strictEqual(
          (await satrail(["adjustments", "approve", id])).code,
          1,
          "the importing operator cannot approve"
        )
        assert.strictEqual((await satrail(["adjustments", "approve", id], tokens.bob)).code, 0)
      }
      assert.strictEqual(String((await operator(`/companies/${company}`)).posted_sats), balance)
    }
  })

  it("import: wallets with a pending outgoing payment or a negative balance are left out, and so are other users' wallets", async () => {
    const changed = path.join(directory, "changed.sqlite3")
    writeFileSync(changed, original)
    const database = new DatabaseSync(changed)
    database.exec(`
      update apipayments set status = 'pending' where amount = -123000;
      update apipayments set amount = -1234567 where amount = 1234000;
      update wallets set shared_wallet_id = 'f00d' where name = 'Empty';
      update apipayments set amount = 77001 where amount = 77000`)
    database.close()
    const ended = await satrail(["import", "lnbits", changed, "--dry-run"])
    assert.strictEqual(ended.code, 0, ended.stderr)
    for (const line of [
      /To import: 3 wallets with 77\.001 sats/,
      /Left out: 3 wallets with 48765\.433 sats; deleted wallets hold 100 sats/,
      /Ann's shop +49877 .*1 outgoing payments are pending; import again once they have completed/,
      /Bob +-1111\.567 .*its balance is negative/,
      /Empty .*shares wallet f00d/
    ])
      assert.match(ended.stdout, line)
  })

  it("import: the error names a file that is not LNbits' database", async () => {
    const text = path.join(directory, "notes.txt")
    writeFileSync(text, "not a database")
    for (const one of [text, path.join(directory, "missing.sqlite3")]) {
      const ended = await satrail(["import", "lnbits", one])
      assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
      assert.include(ended.stderr, `${one} must be the SQLite database of LNbits 1.0 or later`)
    }
  })
})
