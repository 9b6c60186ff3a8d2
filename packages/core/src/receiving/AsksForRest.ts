import { Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/**
 * Returns whether a record that collects several deposits, such as a checkout, was paid in part and the rest can
 * still be paid in time. A feature provides the implementation.
 */
export class AsksForRest extends Context.Reference<
  (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<boolean, StoreUnavailable>
>("@satrail/core/receiving/AsksForRest", { defaultValue: () => () => Effect.succeed(false) }) {}
