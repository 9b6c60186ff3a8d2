import { Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Deposit } from "./Deposit.ts"

/**
 * Returns the newest deposits of a record that collects several, such as a checkout. A feature provides the
 * implementation.
 */
export class DepositsOf extends Context.Reference<
  (
    companyId: CompanyId.CompanyId,
    id: string,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Deposit>, StoreUnavailable>
>("@satrail/core/receiving/DepositsOf", { defaultValue: () => () => Effect.succeed([]) }) {}
