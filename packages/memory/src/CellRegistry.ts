import type { Heir, Registry } from "@satrail/core/accounts/Cells"
import { Effect, Option } from "effect"

interface Row extends Omit<Heir, "companyId"> {
  /** Who may have it there; null: whichever company of the cell made it. */
  readonly companyId: Heir["companyId"] | null
  /** It was handed over, and the company does not have it yet. */
  readonly isOpen: boolean
  /** The letters of the cells that had it before, one after the other. */
  readonly hadBy: string
}

/** What the cells of a service share, in this process. */
export const make = (): Registry => {
  const rows = new Map<string, Row>()
  return {
    claim: (handles, letter, companyId) =>
      Effect.sync(() =>
        handles.filter((handle) => {
          const row = rows.get(handle) ?? { letter, companyId: null, isOpen: false, hadBy: "" }
          if (row.letter !== letter) return !row.hadBy.includes(letter)
          const isItsCompany = row.companyId === companyId
          rows.set(handle, { ...row, isOpen: row.isOpen && !isItsCompany })
          return !isItsCompany && row.companyId !== null && companyId !== null
        })
      ),
    handOver: (handle, letter, to) =>
      Effect.sync(() => {
        const row = rows.get(handle)
        if (row === undefined) return false
        const isOwn = row.letter === letter
        if (!row.hadBy.includes(to.letter) && (isOwn || (row.isOpen && row.hadBy.endsWith(letter))))
          rows.set(handle, { ...to, isOpen: true, hadBy: isOwn ? row.hadBy + letter : row.hadBy })
        const now = rows.get(handle)
        return now?.letter === to.letter && now.companyId === to.companyId
      }),
    holder: (handle) => Effect.sync(() => Option.map(Option.fromUndefinedOr(rows.get(handle)), ({ letter }) => letter))
  }
}
