import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import {
  apiKey,
  committed,
  companyWith,
  created,
  payment,
  verdict,
  withdrawal
} from "@satrail/contracts/Fixtures"
import { returnOf, transfer } from "@satrail/contracts/features/transfers/Fixtures"
import { has } from "@satrail/contracts/Ledger"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Clock, type Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

/** The number of sessions that wait for a locked row. */
const waiting = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
)

/** Two stores of one database, as in two processes, and a third client that can lock a company's balance. */
const stores = Effect.gen(function* () {
  const url = yield* Database.make
  const open = Layer.build(Storage.layer({ url }))
  const [one, other] = [yield* open, yield* open]
  const outside = yield* Layer.build(PgClient.layer({ url, maxConnections: 2 }))

  /**
   * Starts the commits in this order, each in its store, while the company's balance and keys are locked, and returns
   * their results. Therefore the second commit begins without seeing the first one's effect.
   */
  const inTurn = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    commits: ReadonlyArray<Effect.Effect<string, never, Journal>>
  ) {
    const sql = Effect.provide(SqlClient.SqlClient, outside)
    const begun = Effect.forEach(commits, (commit, n) =>
      Effect.forkChild(Effect.provide(commit, n === 0 ? one : other), { startImmediately: true }).pipe(
        Effect.tap(() => eventually(Effect.provide(waiting, outside), (rows) => rows.length === n + 1))
      )
    )
    const client = yield* sql
    const fibers = yield* client.withTransaction(
      Effect.andThen(
        client`select company_id from satrail.balances where company_id = ${companyId} for no key update`,
        Effect.andThen(
          client`select id from satrail.api_keys where company_id = ${companyId} for no key update`,
          begun
        )
      )
    )
    return yield* Effect.forEach(fibers, Fiber.join)
  })
  return { one, inTurn } satisfies { readonly one: Context.Context<Journal>; readonly inTurn: unknown }
})

describe.skipIf(Database.server === undefined)(
  "two stores of one server (skipped where there is none)",
  () => {
    it.live(
      "C12: limits: if two stores wait for one balance, the second one counts the payment of the first",
      () =>
        Effect.gen(function* () {
          const { one, inTurn } = yield* stores
          const companyId = yield* Effect.provide(companyWith(100), one)
          const atMillis = yield* Clock.currentTimeMillis
          const counts: ReadonlyArray<Limit.Count> = [
            { subject: yield* Id.make, atMillis, most: { day_sats: Msat.fromSats(15) } }
          ]
          const send = Effect.gen(function* () {
            const row = yield* withdrawal(companyId, 10, {
              createdAtMillis: atMillis,
              counted: Limit.noted(counts)
            })
            return yield* verdict(Withdrawal.requested(row, undefined, undefined, counts))
          })
          assert.deepStrictEqual(yield* inTurn(companyId, [send, send]), ["Applied", "LimitExceeded"])
          yield* Effect.provide(has(companyId, { posted: 100, held: 10 }), one)
        })
    )

    it.live(
      "freeze: a withdrawal begun by another store before the freeze is rejected if it locks the balance after the freeze",
      () =>
        Effect.gen(function* () {
          const { one, inTurn } = yield* stores
          const companyId = yield* Effect.provide(companyWith(100), one)
          const freeze = verdict(
            Company.freezeChanged(companyId, { reason: "a drill", pending: "wait", sinceMillis: 1 }, 1)
          )
          const send = Effect.flatMap(withdrawal(companyId, 10), (row) => verdict(Withdrawal.requested(row)))
          assert.deepStrictEqual(yield* inTurn(companyId, [freeze, send]), ["Applied", "CompanyFrozen"])
          yield* Effect.provide(has(companyId, { posted: 100, held: 0 }), one)
        })
    )

    it.live("balance: a withdrawal that waits for a credit by another store can spend it", () =>
      Effect.gen(function* () {
        const { one, inTurn } = yield* stores
        const companyId = yield* Effect.provide(companyWith(10), one)
        const paid = yield* Effect.provide(
          Effect.flatMap(created(companyId, 100), (invoice) => payment(invoice, 100)),
          one
        )
        const send = Effect.flatMap(withdrawal(companyId, 50), (row) => verdict(Withdrawal.requested(row)))
        assert.deepStrictEqual(yield* inTurn(companyId, [verdict(paid), send]), ["Applied", "Applied"])
        yield* Effect.provide(has(companyId, { posted: 110, held: 50 }), one)
      })
    )

    it.live(
      "transfer: a return that waits for another store's return of all that is left is refused as moved",
      () =>
        Effect.gen(function* () {
          const { one, inTurn } = yield* stores
          const [payer, payee] = yield* Effect.provide(Effect.all([companyWith(10), companyWith(10)]), one)
          const row = yield* Effect.provide(transfer(payer, payee, 10), one)
          yield* Effect.provide(committed(Transfer.sent(row)), one)
          const back = Effect.flatMap(returnOf(row, 10), (one) => verdict(Transfer.returned(row, one)))
          assert.deepStrictEqual(yield* inTurn(payee, [back, back]), ["Applied", "TransferMoved"])
          yield* Effect.provide(has(payee, { posted: 10, held: 0 }), one)
        })
    )

    it.live("API key: a rotation begun by another store before the old key was restricted is refused", () =>
      Effect.gen(function* () {
        const { one, inTurn } = yield* stores
        const companyId = yield* Effect.provide(companyWith(100), one)
        const [old, next] = [
          yield* Effect.provide(apiKey(companyId), one),
          yield* Effect.provide(apiKey(companyId), one)
        ]
        yield* Effect.provide(verdict(ApiKey.issued(old)), one)
        const restrict = verdict(ApiKey.limited(old, { daySats: 1 }, 1))
        const rotate = verdict(ApiKey.issued(next, { id: old.id, expiresAtMillis: 20 }))
        assert.deepStrictEqual(yield* inTurn(companyId, [restrict, rotate]), ["Applied", "ProtectionMoved"])
      })
    )
  }
)
