import { Clock, Effect, Option } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import * as Audit from "../../ledger/Audit.ts"
import * as Change from "../../ledger/Change.ts"
import { Journal } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import type { Written } from "../../ledger/Written.ts"

/** The signed head of the audit log. Only the operator receives it. */
export interface AuditHead {
  /** The head itself, in the form that `satrail verify --audit-head` accepts. */
  readonly id: string
}

/**
 * The head of the audit log was published. The operator's webhooks deliver it to a place that the database
 * owner cannot change.
 */
export interface AuditHeadPublished extends Written<"AuditHeadPublished", readonly [], "fence", "audit_head.updated"> {
  readonly cursor: Change.Cursor
}

// Cursor that stores the last published head.
const source = "audit head told"

const published = (head: string, id: string, atMillis: number, fence: Change.Fence): AuditHeadPublished => ({
  _tag: "AuditHeadPublished",
  ...Change.on({ id, companyId: CompanyId.operator }, atMillis),
  writes: [],
  event: { type: "audit_head.updated", subject: head },
  cursor: { source, value: head },
  fence
})

/** Publishes the head unless it was the last one published. */
export const publish = Effect.fnUntraced(function* (head: Audit.Head, fence: Change.Fence) {
  const [journal, ledger, entropy] = [yield* Journal, yield* LedgerReads, yield* Entropy]
  const text = Audit.textOf(head)
  const last = yield* ledger.cursor(source)
  if (Option.isSome(last) && last.value === text) return
  const nowMillis = yield* Clock.currentTimeMillis
  yield* journal.commit(published(text, Id.fromMillis(nowMillis, entropy), nowMillis, fence))
})
