import * as Catalogue from "@satrail/service/core/Catalogue"
import type { Read } from "@satrail/client/Schemas"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import { Invalid } from "@satrail/core/base/Invalid"
import { cursorOf, type Heard } from "@satrail/core/events/Events"
import type * as Notice from "@satrail/core/events/Notice"
import type { EventIds } from "@satrail/http/wire/EventIds"
import { refusal } from "./Refusals.ts"
import * as Reply from "./Reply.ts"
import * as Views from "./Views.ts"

type Rail = "lightning" | "on_chain"

/**
 * Converts `deposit.lightning.completed` and `deposit.on_chain.completed` to `deposit.settled`, because the
 * record contains the rail.
 */
type TypeOf<T> = T extends `${infer Kind}.${Rail}.${infer State}`
  ? `${Kind}.${State extends "completed" ? "settled" : State}`
  : T

/** An event type, such as `deposit.settled`. */
export type EventType = TypeOf<Notice.Type>

type DataOf<A, T> = A extends { readonly type: infer Types; readonly record: infer Record }
  ? T extends TypeOf<Types>
    ? Record
    : never
  : never

/** A change of a record. */
export interface Event<T extends EventType = EventType, M = Readonly<Record<string, string>>> {
  /** The same for every delivery of the event, also over HTTP. Pass it as `after` to resume after the event. */
  readonly id: string
  readonly type: T
  readonly at: Date
  /** The id of the company. */
  readonly company: string
  /** The id of the record. */
  readonly subject: string
  /** The record as it was at the time of the event. */
  readonly data: Views.Both<
    Reply.Reply<DataOf<Notice.About, T>, Read<M, T extends `${infer Kind}.${string}` ? Kind : never>>,
    Views.SeenEvent<T, M>
  >
}

/** An event of any type. Checking `type` narrows `data`. */
export type AnyEvent<M> = { readonly [T in EventType]: Event<T, M> }[EventType]

/** Returns the public name of a core event type. */
export const typeOf = (type: string): string =>
  type.replace(
    /^(\w+)\.(?:lightning|on_chain)\.(\w+)$/,
    (_, kind, state) => `${kind}.${state === "completed" ? "settled" : state}`
  )

/** All event types. */
export const types: ReadonlySet<string> = new Set(Catalogue.types.map(typeOf))

/** Returns the position in the core's form. */
export const after = (ids: EventIds, given: string | undefined): string | undefined => {
  if (given === undefined || given === "now") return given
  const place = typeof given === "string" ? ids.read(given, null) : undefined
  if (place === undefined)
    throw refusal(new Invalid({ path: "after", message: 'must be the id of an event, or "now"' }))
  return cursorOf(place)
}

/** Converts an event to the form in which the host program receives it. */
export const of = <M>(heard: Heard, ids: EventIds, iterate: Reply.Iterate): AnyEvent<M> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a notice's record matches its type
  ({
    id: ids.write(heard.place, heard.companyId),
    type: typeOf(heard.type),
    at: new Date(heard.atMillis),
    company: heard.companyId satisfies CompanyId,
    subject: heard.subject,
    data: Views.ofEvent(heard, Reply.plain(heard.record, iterate))
  }) as unknown as AnyEvent<M>
