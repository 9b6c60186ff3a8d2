import { PGlite } from "@electric-sql/pglite"
import { assert, it } from "@effect/vitest"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as EmptyDatabase from "../src/client/EmptyDatabase.ts"

const inDirectory = async <A>(use: (directory: string) => Promise<A>): Promise<A> => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-empty-"))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The state of a database: its catalog, settings, databases and roles. */
const described = async (dataDir: string) => {
  const database = await PGlite.create({ dataDir })
  const rows = async (text: string) => (await database.query<object>(text)).rows
  const found = {
    version: await rows(
      "select version(), catalog_version_no::text, (select data_page_checksum_version::text from pg_control_init()) from pg_control_system()"
    ),
    settings: await rows("select name, setting from pg_settings order by name"),
    databases: await rows(
      "select datname, encoding, datcollate, datctype, datlocprovider, datallowconn from pg_database order by datname"
    ),
    roles: await rows("select rolname, rolsuper, rolcanlogin from pg_roles order by rolname"),
    relations: await rows(
      "select n.nspname, c.relname, c.relkind, c.relacl::text from pg_class c join pg_namespace n on n.oid = c.relnamespace order by 1, 2"
    ),
    functions: await rows("select md5(string_agg(p::text, ' ' order by p.oid)) from pg_proc p"),
    types: await rows("select md5(string_agg(t.typname || t.oid, ' ' order by t.oid)) from pg_type t")
  }
  await database.close()
  return found
}

it(
  "empty database: the stored copy matches a database created by this version of PGlite",
  () =>
    inDirectory(async (directory) => {
      EmptyDatabase.unpack(path.join(directory, "ours"))
      await (await PGlite.create({ dataDir: path.join(directory, "made") })).close()
      const files = (which: string) =>
        readdirSync(path.join(directory, which), { recursive: true }).toSorted()
      assert.deepStrictEqual(files("ours"), files("made"))
      assert.deepStrictEqual(
        await described(path.join(directory, "ours")),
        await described(path.join(directory, "made"))
      )
    }),
  120_000
)

it("empty database: a directory left incomplete by a killed process is created again", () =>
  inDirectory(async (directory) => {
    const data = path.join(directory, "data")
    EmptyDatabase.unpack(`${data}.new`)
    writeFileSync(path.join(`${data}.new`, "PG_VERSION"), "9")
    EmptyDatabase.unpack(data)
    const database = await PGlite.create({ dataDir: data })
    assert.deepStrictEqual((await database.query("select 1 as one")).rows, [{ one: 1 }])
    await database.close()
    assert.deepStrictEqual(readdirSync(directory), ["data"])
  }))
