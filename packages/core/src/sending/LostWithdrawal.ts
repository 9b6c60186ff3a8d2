import type * as Waiting from "../ledger/Waiting.ts"
import * as Withdrawal from "./Withdrawal.ts"

// A withdrawal is lost if its node has lost the record of its payment. It stays pending, because the payee may
// still be paid.

/** The lane of a lost withdrawal's task. It contains a space, so it is never the name of a payee's host. */
export const lane = "lost payment"

/** Returns whether a withdrawal's task is that of a lost withdrawal. */
export const isLost = (job: Pick<Waiting.Job, "kind" | "lane"> | null): boolean =>
  job !== null && job.kind === Withdrawal.paymentKind && job.lane === lane
