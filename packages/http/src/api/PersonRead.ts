import { NotFound, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { OperatorPerson } from "@satrail/ui/console/wire"
import { Context, Effect } from "effect"

type Read = (id: string) => Effect.Effect<OperatorPerson, NotFound | StoreUnavailable>

/** Reads a person of any company, or an operator, for the operator's console. Provided by the feature `people`. */
export const PersonRead = Context.Reference<Read>("@satrail/http/api/PersonRead", {
  defaultValue: () => (id) => Effect.fail(new NotFound({ what: "person", id }))
})
