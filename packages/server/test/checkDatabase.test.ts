import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Follower from "@satrail/chain/Follower"
import { boundPort } from "@satrail/testing/boundPort"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { eventually } from "@satrail/testing/Waiting"
import { Effect, Result } from "effect"
import { rmSync } from "node:fs"
import { createServer } from "node:net"
import path from "node:path"
import * as Check from "../src/base/Check.ts"
import { limitMillis } from "../src/check/Checks.ts"
import * as Database from "../src/check/Database.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Service from "./Service.ts"

const installation = PostgresServer.find()
const roles = path.join(import.meta.dirname, "../../postgres/roles.sql")

describe.skipIf("missing" in installation)(
  "satrail check of a database (skipped where there is no PostgreSQL)",
  () => {
    if ("missing" in installation) return
    const home = Service.directory()
    let postgres: PostgresServer.PostgresServer
    beforeAll(async () => {
      postgres = await PostgresServer.start(installation, {
        settings: ["fsync=off", "full_page_writes=off", "max_connections=20"]
      })
    })
    afterAll(async () => {
      await postgres.end()
      rmSync(home, { recursive: true, force: true })
    })

    const urlOf = (database: string, role = "postgres") =>
      `postgres://${role}@127.0.0.1:${postgres.port}/${database}`
    const ask = (database: string, text: string) =>
      Client.run(installation, "psql", [
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        `--command=${text}`,
        urlOf(database)
      ])
    const create = (name: string, more = "") => ask("postgres", `create database ${name} ${more}`)
    const migrate = async (database: string, role = "postgres") => {
      const ended = await Service.run("cli", ["migrate"], {
        SATRAIL_DATA: home,
        DATABASE_URL: urlOf(database, role)
      }).ended
      assert.strictEqual(ended.code, 0, ended.stderr)
    }

    const found = async (database: string, role = "postgres", env: Record<string, string> = {}) => {
      const environment = Result.getOrThrow(
        Environment.read({ DATABASE_URL: urlOf(database, role), SATRAIL_DATA: home, ...env })
      )
      return await Effect.runPromise(
        Check.run([Database.check(environment), Database.space(environment)], 20_000, [])
      )
    }
    const linesOf = async (...asked: Parameters<typeof found>) => (await found(...asked)).map(Check.text)

    /** Failed checks and warnings, except the warning about this server's fsync setting. */
    const troubles = (lines: ReadonlyArray<string>) =>
      lines.filter((line) => !line.startsWith("✓") && !line.includes("fsync"))

    it("check: an empty database and a role that may create tables are OK, and settings that can lose commits cause warnings", async () => {
      create("empty")
      const lines = await linesOf("empty")
      assert.match(
        lines[0] ?? "",
        new RegExp(`^✓ database: PostgreSQL \\d+.* at 127\\.0\\.0\\.1:${postgres.port}/empty$`)
      )
      assert.include(lines, "✓ database: there are no tables yet: the first start creates them")
      const [off = ""] = lines.filter((line) => line.includes("fsync"))
      assert.match(off, /^! database: fsync and full_page_writes off: .* Enable it in postgresql\.conf/)
      assert.deepStrictEqual(troubles(lines), [])
    })

    it("check: the last block read is known from the database, and unknown without tables, a position or a server", async () => {
      create("blocks")
      const lastRead = (url = urlOf("blocks")) =>
        Effect.runPromise(
          Database.lastRead(Result.getOrThrow(Environment.read({ DATABASE_URL: url, SATRAIL_DATA: home })))
        )
      assert.isUndefined(await lastRead())
      await migrate("blocks")
      assert.isUndefined(await lastRead())
      ask("blocks", `insert into satrail.cursors values ('chain', '${Follower.cursorBefore(176)}')`)
      assert.strictEqual(await lastRead(), 175)
      assert.isUndefined(await lastRead(`postgres://nobody@127.0.0.1:1/blocks`))
    })

    it("check: the roles of roles.sql are OK, an owner or superuser role causes a warning, and the command to run is shown for a role that may not migrate", async () => {
      create("money")
      Client.script(installation, urlOf("money"), roles)
      const before = await linesOf("money", "satrail_application")
      assert.match(
        troubles(before).join(),
        /^✗ database: there are no tables yet, and the role satrail_application may not create them\. Run `satrail migrate`/
      )

      await migrate("money", "satrail_migration")
      assert.deepStrictEqual(troubles(await linesOf("money", "satrail_application")), [])
      const owner = troubles(await linesOf("money", "satrail_migration"))
      assert.match(
        owner.join(),
        /^! database: the role satrail_migration can change existing entries\. Create the roles/
      )
      assert.match(
        troubles(await linesOf("money")).join(),
        /^! database: the role postgres is a superuser.* Create the roles/
      )
      const reader = troubles(await linesOf("money", "satrail_reader")).join("\n")
      assert.match(
        reader,
        /✗ database: this database is read-only.*\n✗ database: the role satrail_reader may not write to the ledger/
      )

      ask("money", "update satrail.migrations set migration_id = migration_id - 1")
      const old = troubles(await linesOf("money", "satrail_application"))
      assert.match(
        old.join(),
        /^✗ database: the tables are at migration \d+ of \d+, and the role satrail_application may not migrate\. Run `satrail migrate`/
      )
      assert.match(
        (await linesOf("money", "satrail_migration")).join("\n"),
        /✓ database: the tables are at migration \d+ of \d+: the next start/
      )
      ask("money", "insert into satrail.migrations (migration_id, name) values (9999, 'of-the-future')")
      const future = await found("money", "satrail_application")
      assert.isTrue(future.some(Check.isFinal))
      assert.match(
        future.map(Check.text).join("\n"),
        /✗ database: the tables are at migration 9999.*Start that version or a later one/
      )
    })

    it("check: an encoding other than UTF-8, too few connections, no free one and a standby are reported", async () => {
      create("latin", "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0")
      assert.match(
        troubles(await linesOf("latin")).join(),
        /✗ database: the database's encoding is LATIN1.*UTF8/
      )
      create("narrow")
      const narrow = await linesOf("narrow", "postgres", { SATRAIL_DATABASE_CONNECTIONS: "20" })
      assert.match(
        troubles(narrow).join(),
        /! database: SATRAIL_DATABASE_CONNECTIONS is 20, but the server accepts only 20 in total/
      )
      ask("postgres", "alter database narrow set default_transaction_read_only = on")
      const [readOnly] = (await found("narrow")).filter(Check.isFinal)
      assert.include(readOnly && Check.text(readOnly), "is read-only")
      ask("postgres", "create role crowded login connection limit 0")
      assert.match(
        troubles(await linesOf("narrow", "crowded")).join(),
        /✗ database: too many connections for role.* Raise max_connections/
      )
    })

    it("check: a full disk is reported, although the database still serves reads", async () => {
      create("crammed")
      ask("crammed", "create role writer login; alter role writer set search_path = public, pg_catalog")
      // A sort on a full disk fails with this error.
      const fails = `
begin
  raise exception 'could not write to file' using errcode = '53100';
end`
      ask("crammed", `create function public.md5(text) returns text language plpgsql as $$ ${fails} $$`)
      assert.match(
        troubles(await linesOf("crammed", "writer")).join(),
        /✗ database: the disk of the database is full\. Free some space/
      )
      ask("crammed", "drop function public.md5(text)")
      assert.notInclude((await linesOf("crammed", "writer")).join(), "disk")
    })

    it("check: with several hosts, the role of each is shown, and asynchronous replication or a second primary is reported", async () => {
      const settings = PostgresServer.rewindable
      const first = await PostgresServer.start(installation, { settings })
      const second = await PostgresServer.start(installation, { settings, standbyOf: first.port })
      const run = (url: string, text: string) =>
        Client.run(installation, "psql", ["--no-psqlrc", "--quiet", `--command=${text}`, url])
      const look = async () => {
        const url = `postgres://postgres@127.0.0.1:${second.port},127.0.0.1:${first.port}/postgres`
        const readUrl = `postgres://postgres@127.0.0.1:${second.port}/postgres`
        const environment = Result.getOrThrow(
          Environment.read({ DATABASE_URL: url, DATABASE_READ_URL: readUrl, SATRAIL_DATA: home })
        )
        return (await Effect.runPromise(Check.run([Database.check(environment)], 20_000, []))).map(Check.text)
      }
      const asynchronous = await look()
      assert.include(asynchronous, `✓ database: 127.0.0.1:${second.port} is a standby`)
      assert.include(asynchronous, `✓ database: 127.0.0.1:${first.port} is the primary`)
      assert.include(asynchronous, `✓ database: lists are read from the standby at 127.0.0.1:${second.port}`)
      const warnings = (lines: ReadonlyArray<string>) =>
        lines.filter((line) => line.includes("commits don't wait for the standby"))
      assert.match(
        warnings(asynchronous).join(),
        /^! database: .*synchronous_standby_names is empty.* Set synchronous_standby_names = 'ANY 1/
      )

      run(first.url, "alter system set synchronous_standby_names = 'ANY 1 (*)'")
      run(first.url, "select pg_reload_conf()")
      await eventually("synchronous replication", look, (lines) => warnings(lines).length === 0)
      run(first.url, "alter role postgres set synchronous_commit = local")
      assert.match(warnings(await look()).join(), /synchronous_commit is local/)

      await second.promote()
      const both = await look()
      assert.include(both, `✓ database: 127.0.0.1:${second.port} is the primary`)
      assert.match(
        both.join("\n"),
        /! database: DATABASE_READ_URL: .* is the primary\. Set it to a running standby/
      )
      assert.match(
        both.join("\n"),
        /✗ database: .* both accept writes: one of them is an old primary\. Stop the old one immediately/
      )
      await first.stop("fast")
      assert.match(
        (await look()).join("\n"),
        new RegExp(`! database: 127\\.0\\.0\\.1:${first.port} does not respond`)
      )
      await Promise.all([first.end(), second.end()])
    })

    it("check: a host that accepts connections but never responds is reported within the start timeout", async () => {
      create("quiet")
      const silent = createServer().listen(0, "127.0.0.1")
      const at = `127.0.0.1:${await boundPort(silent)}`
      const url = `postgres://postgres@${at},127.0.0.1:${postgres.port}/quiet`
      const environment = Result.getOrThrow(Environment.read({ DATABASE_URL: url, SATRAIL_DATA: home }))
      const lines = (
        await Effect.runPromise(Check.run([Database.check(environment)], limitMillis.starting, []))
      ).map(Check.text)
      assert.include(lines.join("\n"), `! database: ${at} does not respond (timeout expired)`)
      assert.include(lines, `✓ database: 127.0.0.1:${postgres.port} is the primary`)
      silent.close()
    })

    it("check: a rejected login or a missing database is reported, and the report shows the address but not the password", async () => {
      const nobody = await linesOf("empty", "nobody-is-this:hunter2-and-more")
      assert.match(nobody.join(), /^✗ database: The database at 127\.0\.0\.1:\d+\/empty rejected the login/)
      assert.notInclude(nobody.join(), "hunter2")
      assert.match(
        (await linesOf("missing")).join(),
        /^✗ database: The server at .* has no database with this name/
      )
    })
  }
)
