import { Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/**
 * Cancels every open link that a key or person created, in this company or, if it is null, in every company. Releases
 * the money that the links hold, and returns their number. Repeating it cancels only what is still open. A feature
 * provides the implementation.
 */
export class VoidLinks extends Context.Reference<
  (companyId: CompanyId.CompanyId | null, createdBy: string) => Effect.Effect<number, StoreUnavailable>
>("@satrail/core/accounts/VoidLinks", { defaultValue: () => () => Effect.succeed(0) }) {}
