import { type Context, Effect } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import * as FeatureReads from "./FeatureReads.ts"
import { EventStore } from "../ledger/EventStore.ts"
import { AuditStore } from "../ledger/Audit.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { ReportReads } from "../reports/ReportReads.ts"
import { SendingReads } from "../sending/SendingReads.ts"

/**
 * Read ports for committed records. A storage adapter provides all of them, and each core service requires
 * only the ones it needs.
 */
export type Records =
  | NounReads
  | LedgerReads
  | EventStore
  | AuditStore
  | AccountReads
  | ReceivingReads
  | SendingReads
  | ReportReads
  | FeatureReads.FeatureReads

/** All read methods. */
export type AllReads = Context.Service.Shape<typeof NounReads> &
  Context.Service.Shape<typeof LedgerReads> &
  Context.Service.Shape<typeof EventStore> &
  Context.Service.Shape<typeof AuditStore> &
  Context.Service.Shape<typeof AccountReads> &
  Context.Service.Shape<typeof ReceivingReads> &
  Context.Service.Shape<typeof SendingReads> &
  Context.Service.Shape<typeof ReportReads> &
  FeatureReads.Reads

/** All read methods in one value, for hosts, tools and tests. */
export const Records: Effect.Effect<AllReads, never, Records> = Effect.gen(function* () {
  return {
    ...(yield* NounReads),
    ...(yield* LedgerReads),
    ...(yield* EventStore),
    ...(yield* AuditStore),
    ...(yield* AccountReads),
    ...(yield* ReceivingReads),
    ...(yield* SendingReads),
    ...(yield* ReportReads),
    ...(yield* FeatureReads.all)
  }
})
