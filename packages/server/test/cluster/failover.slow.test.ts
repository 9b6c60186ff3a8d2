import { assert, it } from "@effect/vitest"
import * as PgClient from "@satrail/postgres/client/PgClient"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, run } from "../Service.ts"
import * as Callers from "./Callers.ts"
import * as Failover from "./Failover.ts"
import { suite } from "./Suite.ts"

let made: Failover.Servers | undefined
const postgres = async () => (made = await Failover.make(true)).postgres
const servers = () => made ?? assert.fail("the servers did not start")

suite("The primary's machine dies under load", { postgres }, (cluster) => {
  it("failover: every acknowledged request is on the new primary, each payment is sent once, and the old primary gets no requests", async () => {
    const { first, second, clients, replication, ask, synchronize, postgres } = servers()
    const callers = await Callers.make(cluster(), 12)
    const withdrawals = () => ask(first, "select count(*) from satrail.withdrawals")
    await callers.during(async () => {
      const { alone } = await Failover.dies(servers(), callers)
      assert.strictEqual(alone, 0, "without the standby, no request is acknowledged")

      // By mistake, the old primary is restarted as a primary, and it is first in the list of hosts.
      await first.restart()
      clients.open()
      assert.strictEqual(ask(first, "select pg_is_in_recovery()"), "f")
      const before = withdrawals()
      await cluster().restart(0)
      await callers.grows("responses while the old primary runs", callers.answers, 100)
      assert.strictEqual(
        withdrawals(),
        before,
        "no process writes to the old primary, not even one that has just started"
      )
      // A write by a client that connects to the old primary is not acknowledged.
      const written = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`create table lone as select 1 as n`
      ).pipe(
        Effect.timeoutOption(1500),
        Effect.provide(PgClient.layer({ url: Redacted.make(first.url), maxConnections: 1 }))
      )
      assert.isTrue(
        Option.isNone(await Effect.runPromise(written)),
        "the old primary acknowledges nothing while it is alone"
      )

      // The old primary becomes a standby of the new one, and commits wait for it.
      await first.stop("fast")
      await first.follow(second.port)
      await first.restart()
      replication.open()
      assert.strictEqual(ask(first, "select pg_is_in_recovery()"), "t")
      synchronize(second)
      await eventually(
        "a synchronous standby",
        async () => ask(second, "select count(*) from pg_stat_replication where sync_state = 'quorum'"),
        (count) => count === "1"
      )
      await callers.grows("responses that both servers have stored", callers.answers, 100)
      assert.strictEqual(
        ask(second, "select to_regclass('lone') is null"),
        "t",
        "data that only the old primary had is removed"
      )
    })
    // Release claims made by processes that did not receive the commit's acknowledgment.
    cluster().overslept()
    await callers.served()
    assert.strictEqual(await callers.missing(), 0)
    await callers.agree()
    const verified = await run("cli", ["verify"], { DATABASE_URL: postgres.url }).ended
    assert.strictEqual(verified.code, 0, verified.stdout + verified.stderr)
  })
})
