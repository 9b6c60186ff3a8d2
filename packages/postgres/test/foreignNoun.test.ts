import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { open } from "@satrail/contracts/Fixtures"
import * as Nouns from "@satrail/contracts/Nouns"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import * as Id from "@satrail/core/base/Id"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Feature from "@satrail/core/ledger/Feature"
import { all as features } from "@satrail/service/features/core"
import { Features } from "@satrail/core/ledger/Features"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Noun from "@satrail/core/ledger/Noun"
import { NounReads } from "@satrail/core/ledger/NounReads"
import type { Written } from "@satrail/core/ledger/Written"
import * as Storage from "@satrail/service/postgres/Storage"
import * as StoreFeature from "../src/client/Feature.ts"
import * as Embedded from "./Embedded.ts"
import { shared } from "./Shared.ts"

// A record type that none of our packages declares, such as an application may add: a ticket that is used or
// voided. The stores contain no code for it.

const Ticket = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  code: Schema.String,
  seat: Schema.NullOr(Schema.Int),
  status: Schema.Literals(["open", "used", "void"]),
  usedBy: Schema.NullOr(Schema.String),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
type Ticket = typeof Ticket.Type

class TicketNotOpen extends Schema.TaggedError<TicketNotOpen>()("TicketNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

const noun = Noun.make("tickets", Ticket, {
  moving: ["status", "usedBy", "updatedAtMillis"],
  recorded: ["companyId", "code", "seat", "status", "usedBy"],
  unique: [["code"]],
  refused: (id, status) => new TicketNotOpen({ id, status })
})

const life = {
  used: Noun.move(noun, "used", {
    from: ["open"],
    to: "used",
    sets: ["usedBy"],
    stamps: ["updatedAtMillis"],
    again: { in: ["used"], same: ["usedBy"] }
  }),
  voided: Noun.move(noun, "voided", {
    from: ["open"],
    to: "void",
    stamps: ["updatedAtMillis"],
    again: { in: ["void"] }
  })
}

interface TicketSold extends Written<"TicketSold", readonly [Noun.InsertOf<typeof noun>]> {}
interface TicketUsed extends Written<"TicketUsed", readonly [Noun.TransitionOf<typeof life.used>]> {}
interface TicketVoided extends Written<"TicketVoided", readonly [Noun.TransitionOf<typeof life.voided>]> {}

const of = ({ id, companyId, createdAtMillis }: Ticket) => ({
  id,
  companyId,
  atMillis: createdAtMillis + 1,
  legs: []
})

const sold = (ticket: Ticket): TicketSold => ({
  ...of(ticket),
  _tag: "TicketSold",
  atMillis: ticket.createdAtMillis,
  writes: [Noun.insert(noun, ticket)]
})
const used = (ticket: Ticket, usedBy: string): TicketUsed => ({
  ...of(ticket),
  _tag: "TicketUsed",
  writes: [Noun.step(life.used, ticket, { usedBy })]
})
const voided = (ticket: Ticket): TicketVoided => ({
  ...of(ticket),
  _tag: "TicketVoided",
  writes: [Noun.step(life.voided, ticket, {})]
})

const ticket = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId): Effect.fn.Return<Ticket> {
  const [id, code] = [yield* Id.make, yield* Id.make]
  return {
    id,
    companyId,
    code,
    seat: null,
    status: "open",
    usedBy: null,
    createdAtMillis: 1,
    updatedAtMillis: 1
  }
})

const subject = Nouns.subjectOf(noun, (companyId) => Effect.map(ticket(companyId), sold), {
  used: (row) => Effect.map(Id.make, (by) => used(row, by)),
  voided: (row) => Effect.succeed(voided(row))
})

/** The only code for it in a store. */
const table = `
create table if not exists satrail.tickets (
  id uuid not null, company_id uuid not null, code text not null, seat integer, status text not null, used_by text,
  created_at_millis bigint not null, updated_at_millis bigint not null, primary key (company_id, id)
);
create unique index if not exists tickets_code on satrail.tickets (code);`

const client = await shared(Embedded.layer)
const host = Layer.merge(
  Layer.succeed(Features, [...features, Feature.make({ name: "tickets", nouns: [noun], lives: [life] })]),
  Layer.succeed(StoreFeature.Own, [{ tables: table }])
)
const storage = await shared(Layer.provide(Storage.layerClient(), [client, host]))

Nouns.suite("tickets", subject)("pglite, an application's record type", storage)

it.layer(storage, { excludeTestServices: true })("nouns", (it) => {
  it.effect("nouns: the type of a Change from another package includes the refusals of that Change", () =>
    Effect.gen(function* () {
      const row = yield* ticket(yield* open)
      const journal = yield* Journal
      yield* journal.commit(sold(row))
      yield* journal.commit(voided(row))
      const refusal = yield* Effect.flip(journal.commit(used(row, "a")))
      const status: string = refusal._tag === "TicketNotOpen" ? refusal.status : ""
      assert.strictEqual(status, "void")
      assert.deepStrictEqual(yield* (yield* NounReads).newestFirst(noun, row.companyId, null, 10), [
        { ...row, status: "void", updatedAtMillis: 2 }
      ])
    })
  )

  it.effect(
    "audit: the records of a host program's own type are compared with the log, in all processes that have its declaration",
    () =>
      Effect.gen(function* () {
        const store = yield* Audit.AuditStore
        const faults = (known: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const all: Array<string> = []
            yield* Effect.provideService(
              AuditVerification.verify(null, ({ record, id, problem, field }) =>
                Effect.sync(() => record === "tickets" && ids.includes(id) && all.push(`${problem} ${field}`))
              ),
              Audit.AuditStore,
              { ...store, recordedKinds: known }
            )
            return all
          })
        const [row, other] = [yield* ticket(yield* open), yield* ticket(yield* open)]
        const ids = [row.id, other.id]
        const journal = Context.get(yield* Layer.build(Layer.fresh(Audit.layerJournal)), Journal)
        for (const one of [row, other]) yield* journal.commit(sold(one))
        yield* journal.commit(used(row, "Ada"))
        assert.deepStrictEqual(yield* faults(store.recordedKinds), [])
        const run = (text: string) =>
          Effect.provide(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text).unprepared),
            client
          )
        yield* run(`update satrail.tickets set status = 'void' where id = '${row.id}'`)
        yield* run(`delete from satrail.tickets where id = '${other.id}'`)
        assert.deepStrictEqual(yield* faults(store.recordedKinds), ["differs status", "gone null"])
        const without = store.recordedKinds.filter((kind) => kind !== "tickets")
        assert.notInclude(
          yield* faults(without),
          "gone null",
          "a process that does not read a type misses none of its records"
        )
      })
  )
})
