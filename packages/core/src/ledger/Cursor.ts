import * as CompanyId from "../base/CompanyId.ts"
import * as Change from "./Change.ts"
import type { StaleFence } from "./Journal.ts"

/** Nothing was credited, and yet the source was read further. */
export interface CursorMoved extends Change.Parts<"CursorMoved", StaleFence> {
  readonly cursor: Change.Cursor
}

export const moved = (cursor: Change.Cursor, id: string, atMillis: number, fence?: Change.Fence): CursorMoved => ({
  _tag: "CursorMoved",
  id,
  companyId: CompanyId.operator,
  atMillis,
  legs: [],
  cursor,
  ...Change.optional({ fence })
})
