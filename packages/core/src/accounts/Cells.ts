import { Context, Effect, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/** What the cells of a service share: whose each handle at their domain is. It holds no money, and nobody waits for it to be paid at a handle of his own cell. */
export interface Registry {
  /**
   * From here on the handles are this cell's, but those that somebody else has: these it answers. One that was handed over to a company of this cell is that
   * company's. Asking again changes nothing. null: for whichever company of this cell has it.
   */
  readonly claim: (
    handles: ReadonlyArray<string>,
    letter: string,
    companyId: CompanyId.CompanyId | null
  ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  /**
   * From here on the handle, which this cell has, is for that company of another cell, and nobody else. Asking again changes nothing; until the company
   * has claimed it, it can be handed to another one instead. False where the handle is not this cell's to hand over, or was the other's before: there it
   * was deleted.
   */
  readonly handOver: (handle: string, letter: string, to: Heir) => Effect.Effect<boolean, StoreUnavailable>
  /** The letter of the cell whose handle it is. */
  readonly holder: (handle: string) => Effect.Effect<Option.Option<string>, StoreUnavailable>
}

/** A company of another cell. */
export interface Heir {
  readonly letter: string
  readonly companyId: CompanyId.CompanyId
}

/** A service that is several whole deployments, each with a database and nodes of its own, and this one of them. A company lives in one. */
export interface Cells {
  /** This one's letter: the first of the id of each key that it issues, so that a proxy knows where a request belongs. */
  readonly letter: string
  /** Where each is reached, this one too: scheme and host. */
  readonly origins: ReadonlyMap<string, string>
  readonly registry: Registry
}

/** Undefined where one deployment is the whole service. */
export const Cells = Context.Reference<Cells | undefined>("@satrail/core/accounts/Cells", { defaultValue: () => undefined })

/** The host of this cell alone, without its port; undefined where one deployment is the whole service. */
export const ownHost = (cells: Cells | undefined): string | undefined => {
  const origin = cells?.origins.get(cells.letter)
  return origin === undefined ? undefined : new URL(origin).hostname
}

/** Where the cell is that gives out a handle which is not known here: scheme and host. Undefined where it is nobody's, or this one's. */
export const elsewhere = (cells: Cells | undefined, handle: string): Effect.Effect<string | undefined, StoreUnavailable> => {
  if (cells === undefined) return Effect.succeed(undefined)
  const { letter, origins, registry } = cells
  return Effect.map(registry.holder(handle), (found) =>
    Option.isSome(found) && found.value !== letter ? origins.get(found.value) : undefined
  )
}
