import * as Waiting from "@satrail/core/ledger/Waiting"
import * as OperatorBacklog from "@satrail/http/resources/OperatorBacklog"
import * as Reconciliation from "@satrail/http/resources/Reconciliation"
import { all } from "../features/core.ts"

const kinds = Waiting.kinds(all)

/** The backlog and the reconciliation, with the reasons for which records of features wait. */
export const section = OperatorBacklog.make(kinds)
export const reconciliation = Reconciliation.make(kinds)
