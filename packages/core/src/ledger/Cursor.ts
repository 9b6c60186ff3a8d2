import { Clock, Effect } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Change from "./Change.ts"
import type { Journal } from "./Journal.ts"
import type { Written } from "./Written.ts"

/** Moves the position of a source without a credit. */
export interface CursorMoved extends Written<"CursorMoved", readonly [], "fence"> {
  readonly cursor: Change.Cursor
}

export const moved = (
  cursor: Change.Cursor,
  id: string,
  atMillis: number,
  fence?: Change.Fence
): CursorMoved => ({
  _tag: "CursorMoved",
  ...Change.on({ id, companyId: CompanyId.operator }, atMillis),
  writes: [],
  cursor,
  ...(fence && { fence })
})

/** Stores a position that no worker claims, so there is no claim that could be stale. */
export const store = Effect.fnUntraced(function* (journal: Journal["Service"], cursor: Change.Cursor) {
  const change = moved(cursor, yield* Id.make, yield* Clock.currentTimeMillis)
  yield* Effect.catchTag(journal.commit(change), "StaleFence", Effect.die)
})
