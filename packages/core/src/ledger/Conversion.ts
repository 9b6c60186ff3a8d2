import { Effect, Option } from "effect"
import type { StoreUnavailable } from "./Journal.ts"
import type { Published } from "./LedgerReads.ts"
import type { Noun, Row } from "./Noun.ts"
import { NounReads } from "./NounReads.ts"

/**
 * Makes a function that reads a record of an event's company, and returns its notice. `tell` also gets the time of
 * the event. Returns none if the id is null or the record no longer exists.
 */
export const ofRecord =
  <A extends Row, Notice>(noun: Noun<A>, tell: (row: A, atMillis: number) => Notice) =>
  (
    { companyId, atMillis }: Published,
    id: string | null
  ): Effect.Effect<ReadonlyArray<Notice>, StoreUnavailable, NounReads> =>
    id === null
      ? Effect.succeed([])
      : Effect.flatMap(NounReads, (nouns) =>
          Effect.map(nouns.get(noun, companyId, id), (found) =>
            Option.toArray(Option.map(found, (row) => tell(row, atMillis)))
          )
        )

/** Like `ofRecord`, for the record that the event is about. */
export const ofSubject = <A extends Row, Notice>(
  noun: Noun<A>,
  tell: (row: A, atMillis: number) => Notice
) => {
  const told = ofRecord(noun, tell)
  return (event: Published) => told(event, event.subject)
}
