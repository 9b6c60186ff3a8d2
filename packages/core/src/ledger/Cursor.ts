import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "./Change.ts"
import type { Written } from "./Written.ts"

/** Moves the position of a source without a credit. */
export interface CursorMoved extends Written<"CursorMoved", readonly [], "fence"> {
  readonly cursor: Change.Cursor
}

export const moved = (cursor: Change.Cursor, id: string, atMillis: number, fence?: Change.Fence): CursorMoved => ({
  _tag: "CursorMoved",
  id,
  companyId: CompanyId.operator,
  atMillis,
  legs: [],
  writes: [],
  cursor,
  ...(fence && { fence })
})
