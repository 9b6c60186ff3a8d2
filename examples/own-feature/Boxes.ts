// An application's own feature: a company puts money into a box and takes it out again, or the box opens at its time and
// the company receives the event `box.opened`. Everything is imported from public entry points. Box.ts contains the
// record; this file contains the service and the worker.
import type { Msat } from "@satrail/bitcoin"
import { Answer, type CompanyId, Journal } from "@satrail/service"
import { Answers, Feature, NounReads, Tasks } from "@satrail/core/ports"
import { Id } from "@satrail/service/records"
import { Clock, Context, Effect, Layer, Option } from "effect"
import * as Box from "./Box.ts"

const leaseMillis = 60_000

const make = Effect.gen(function* () {
  const { commit } = yield* Journal.Journal
  const nouns = yield* NounReads.NounReads
  const tasks = yield* Tasks.Tasks

  const open = Effect.fnUntraced(function* (task: Tasks.Task) {
    const found = yield* nouns.get(Box.noun, task.companyId, task.id)
    if (Option.isSome(found))
      yield* commit(Box.opened(found.value, Tasks.fence(task), yield* Clock.currentTimeMillis))
  })

  return {
    /** Puts money into a new box. A request repeated with its idempotency key fills only one. */
    put: Effect.fnUntraced(function* (
      companyId: CompanyId.CompanyId,
      {
        amount,
        label,
        opensAtMillis
      }: { readonly amount: Msat.Msat; readonly label: string; readonly opensAtMillis: number },
      request?: Answer.Request<Box.Box>
    ) {
      const createdAtMillis = yield* Clock.currentTimeMillis
      const times = { opensAtMillis, createdAtMillis, updatedAtMillis: createdAtMillis }
      const row: Box.Box = {
        id: yield* Id.make,
        companyId,
        ledgerTxId: yield* Id.make,
        amount,
        label,
        status: "locked",
        ...times
      }
      const once = Answer.once(companyId, request, row, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* commit(Box.filled(row, once)), row)
    }),
    /** Takes the money out. Repeating it changes nothing. */
    takeOut: Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
      const found = yield* Journal.found("box", id, nouns.get(Box.noun, companyId, id))
      yield* commit(Box.taken(found, yield* Clock.currentTimeMillis))
      return { ...found, status: "open" as const }
    }),
    /** Returns the newest boxes of a company. */
    list: (companyId: CompanyId.CompanyId) => nouns.newestFirst(Box.noun, companyId, null, 100),
    /** Opens due boxes. Any number of processes can run it at the same time, because only one of them claims each job. */
    step: Effect.gen(function* () {
      const claimed = yield* tasks.claim({
        kind: Box.taskKind,
        nowMillis: yield* Clock.currentTimeMillis,
        leaseMillis,
        limit: 20
      })
      yield* Effect.forEach(claimed, open, { discard: true })
    })
  }
})

export class Boxes extends Context.Service<Boxes, Effect.Success<typeof make>>()("own-feature/Boxes") {}

const layer = Layer.effect(Boxes, make)

const workers = Layer.effectDiscard(
  Effect.gen(function* () {
    const { step } = yield* Boxes
    const patient = Effect.catchCause(step, (cause) => Effect.logError("boxes: failed; will retry", cause))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(patient, Effect.sleep(1000))))
  })
)

const tell = Effect.fnUntraced(function* ({
  companyId,
  subject
}: {
  readonly companyId: CompanyId.CompanyId
  readonly subject: string
}) {
  const found = yield* (yield* NounReads.NounReads).get(Box.noun, companyId, subject)
  return Option.toArray(found).map((record) => ({
    kind: "box" as const,
    type: "box.opened" as const,
    record: Box.shown(record)
  }))
})

/** Provide it in the list `Features`, below the store. */
export const boxes = Feature.make({
  name: "boxes",
  nouns: [Box.noun],
  lives: [Box.life],
  changes: Feature.changes<Box.BoxFilled | Box.BoxOpened | Box.BoxTaken>(),
  events: { "box.opened": "boxes" },
  notices: {
    kind: "box",
    types: ["box.opened"],
    byEvent: { "box.opened": { as: ["box.opened"], convert: tell } }
  },
  // `satrail verify` recounts the money in locked boxes, and `satrail backlog` lists them.
  holds: [
    Feature.holds(Box.noun, {
      in: "locked",
      members: ["amount"],
      transfer: "ledgerTxId",
      waits: { kind: "record_open", task: Box.taskKind, for: "The time at which the box opens" }
    })
  ],
  layer,
  workers
})
