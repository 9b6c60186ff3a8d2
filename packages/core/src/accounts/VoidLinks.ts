import { Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/**
 * Cancels every open link that an API key or person created, releases the money that it holds, and returns their
 * number. Repeating it cancels only what is still open. A feature provides the implementation.
 */
export class VoidLinks extends Context.Reference<
  (companyId: CompanyId.CompanyId, createdBy: string) => Effect.Effect<number, StoreUnavailable>
>("@satrail/core/accounts/VoidLinks", { defaultValue: () => () => Effect.succeed(0) }) {}
