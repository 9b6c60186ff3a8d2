// An application's own feature: a company sets a reminder and receives the event `reminder.due` when it is due.
// Everything is imported from public entry points. Reminder.ts contains the record; this file contains the
// service and the worker.
import { Answer, type CompanyId, Journal } from "@satrail/core"
import { Answers, Feature, NounReads, Tasks } from "@satrail/core/ports"
import { Id } from "@satrail/core/records"
import { Clock, Context, Effect, Layer, Option } from "effect"
import * as Reminder from "./Reminder.ts"

const leaseMillis = 60_000

const make = Effect.gen(function* () {
  const { commit } = yield* Journal.Journal
  const nouns = yield* NounReads.NounReads
  const tasks = yield* Tasks.Tasks

  const ring = Effect.fnUntraced(function* (task: Tasks.Task) {
    const found = yield* nouns.get(Reminder.noun, task.companyId, task.id)
    if (Option.isSome(found)) yield* commit(Reminder.due(found.value, Tasks.fence(task), yield* Clock.currentTimeMillis))
  })

  return {
    /** Sets a reminder. A request repeated with its idempotency key sets only one. */
    set: Effect.fnUntraced(function* (
      companyId: CompanyId.CompanyId,
      text: string,
      dueAtMillis: number,
      request?: Answer.Request<Reminder.Reminder>
    ) {
      const createdAtMillis = yield* Clock.currentTimeMillis
      const id = yield* Id.make
      const row: Reminder.Reminder = {
        id,
        companyId,
        text,
        status: "waiting",
        dueAtMillis,
        createdAtMillis,
        updatedAtMillis: createdAtMillis
      }
      const once = Answer.once(companyId, request, row, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* commit(Reminder.created(row, once)), row)
    }),
    /** Returns the newest reminders of a company. */
    list: (companyId: CompanyId.CompanyId) => nouns.newestFirst(Reminder.noun, companyId, null, 100),
    /** Marks due reminders. Any number of processes can run it at the same time, because only one of them claims each job. */
    step: Effect.gen(function* () {
      const claimed = yield* tasks.claim({ kind: Reminder.taskKind, nowMillis: yield* Clock.currentTimeMillis, leaseMillis, limit: 20 })
      yield* Effect.forEach(claimed, ring, { discard: true })
    })
  }
})

export class Reminders extends Context.Service<Reminders, Effect.Success<typeof make>>()("own-feature/Reminders") {}

const layer = Layer.effect(Reminders, make)

const workers = Layer.effectDiscard(
  Effect.gen(function* () {
    const { step } = yield* Reminders
    const patient = Effect.catchCause(step, (cause) => Effect.logError("reminders: failed; will retry", cause))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(patient, Effect.sleep(1000))))
  })
)

const told = Effect.fnUntraced(function* ({ companyId, subject }: { readonly companyId: CompanyId.CompanyId; readonly subject: string }) {
  const found = yield* (yield* NounReads.NounReads).get(Reminder.noun, companyId, subject)
  return Option.toArray(found).map((record) => ({
    kind: "reminder" as const,
    type: "reminder.due" as const,
    record: Reminder.shown(record)
  }))
})

/** Add it to the list `Features` below the service, and provide its `layer` and `workers` above the service. */
export const reminders = Feature.make({
  name: "reminders",
  nouns: [Reminder.noun],
  lives: [Reminder.life],
  changes: Feature.changes<Reminder.ReminderCreated | Reminder.ReminderDue>(),
  events: { "reminder.due": "reminders" },
  notices: { kind: "reminder", types: ["reminder.due"], told: { "reminder.due": { as: ["reminder.due"], tell: told } } },
  layer,
  workers
})
