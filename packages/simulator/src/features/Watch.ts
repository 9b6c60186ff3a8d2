import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Seen } from "../checks/Seen.ts"
import type { Customers } from "../story/Customers.ts"
import type { Made } from "../story/Made.ts"
import type { Stage } from "../story/Stage.ts"

/** Checks that span a whole scenario. */
export type Watch = (
  stage: Stage,
  customers: Customers,
  seen: Seen,
  made: Made
) => {
  /** Checks what happened since the last call. */
  readonly look: () => void
  /** Ends all disturbances when the scenario ends. */
  readonly recover: () => Promise<void>
  /** Checks everything once nothing is in flight. `feed` is the company's event list, oldest first. */
  readonly close: (companyId: CompanyId.CompanyId, feed: ReadonlyArray<unknown>) => Promise<void>
}
