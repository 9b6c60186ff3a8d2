import * as CompanyId from "@satrail/core/base/CompanyId"
import { EventStore, type PublicEvents } from "@satrail/core/ledger/EventStore"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import { Effect, HashMap, Option, Ref } from "effect"
import type { State } from "./State.ts"

/** Returns the id of the newest event, even if that event has been deleted. */
export const lastId = (state: State): number => HashMap.size(state.events)

const at = (state: State, id: number): Published | undefined => {
  const event = Option.getOrUndefined(HashMap.get(state.events, id))
  return event === undefined || HashMap.has(state.forgotten, id) ? undefined : event
}

/** Returns the events of a company (null: of all) after an id, oldest first. */
export const after = (
  state: State,
  companyId: CompanyId.CompanyId | null,
  after: bigint,
  limit: number
): ReadonlyArray<Published> => {
  const page: Array<Published> = []
  const last = lastId(state)
  for (let id = Math.max(0, Number(after)) + 1; page.length < limit && id <= last; id++) {
    const event = at(state, id)
    if (event !== undefined && (companyId === null || event.companyId === companyId)) page.push(event)
  }
  return page
}

/** Returns a company's events before an id, newest first. */
const before = (
  state: State,
  companyId: CompanyId.CompanyId,
  id: bigint,
  limit: number
): ReadonlyArray<Published> => {
  const page: Array<Published> = []
  for (let one = Math.min(lastId(state), Number(id) - 1); page.length < limit && one > 0; one--) {
    const event = at(state, one)
    if (event?.companyId === companyId) page.push(event)
  }
  return page
}

const forget = (state: State, beforeMillis: number, limit: number): readonly [number, State] => {
  const oldest = after(state, null, 0n, limit)
  const old = oldest.filter(({ atMillis }) => atMillis < beforeMillis)
  return [
    old.length,
    old.reduce(
      (all, { id, companyId }) => ({
        ...all,
        forgotten: HashMap.set(all.forgotten, Number(id), true),
        forgottenUntil: HashMap.setMany(all.forgottenUntil, [
          [companyId, id],
          [CompanyId.operator, id]
        ]),
        publicEvents: HashMap.remove(all.publicEvents, String(id))
      }),
      state
    )
  ]
}

const keptOf = (state: State, ids: ReadonlyArray<bigint>): ReadonlyArray<PublicEvents> =>
  ids.flatMap((id) => Option.toArray(HashMap.get(state.publicEvents, String(id))))

/** Implements the port on in-memory state. */
export const over = (state: Ref.Ref<State>): EventStore["Service"] => {
  const read = <A>(select: (now: State) => A) => Effect.map(Ref.get(state), select)
  return EventStore.of({
    eventsOf: (companyId, from, limit) => read((now) => after(now, companyId, from, limit)),
    eventsBefore: (companyId, id, limit) => read((now) => before(now, companyId, id, limit)),
    event: (id) => read((now) => Option.fromUndefinedOr(at(now, Number(id)))),
    publicEvents: (ids) => read((now) => keptOf(now, ids)),
    storePublicEvents: (rows) =>
      Ref.modify(state, (now) => {
        const publicEvents = rows.reduce(
          (all, row) => (HashMap.has(all, String(row.id)) ? all : HashMap.set(all, String(row.id), row)),
          now.publicEvents
        )
        const next = { ...now, publicEvents }
        return [
          keptOf(
            next,
            rows.map(({ id }) => id)
          ),
          next
        ]
      }),
    forgetEvents: (beforeMillis, limit) => Ref.modify(state, (now) => forget(now, beforeMillis, limit)),
    forgottenUntil: (companyId) =>
      read((now) =>
        Option.getOrElse(HashMap.get(now.forgottenUntil, companyId ?? CompanyId.operator), () => 0n)
      ),
    // The state changes atomically, so there is never an open transaction.
    unreadableSinceMillis: Effect.succeed(null)
  })
}
