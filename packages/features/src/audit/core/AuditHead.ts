import { Clock, Effect, Option } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { Written } from "@satrail/core/ledger/Written"

/** The signed head of the audit log. Only the operator receives it. */
export interface AuditHead {
  /** The head itself, in the form that `satrail verify --audit-head` accepts. */
  readonly id: string
}

/**
 * The head of the audit log was published. The operator's webhooks deliver it to a place that the database
 * owner cannot change.
 */
export interface AuditHeadPublished extends Written<
  "AuditHeadPublished",
  readonly [],
  "fence",
  "audit_head.updated"
> {
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
