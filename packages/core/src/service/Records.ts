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

/** Reads what was committed. A storage adapter provides each of these; a service of the core asks for the one that it needs. */
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

/** Everything that can be read. */
export interface AllReads
  extends
    Context.Service.Shape<typeof NounReads>,
    Context.Service.Shape<typeof LedgerReads>,
    Context.Service.Shape<typeof EventStore>,
    Context.Service.Shape<typeof AuditStore>,
    Context.Service.Shape<typeof AccountReads>,
    Context.Service.Shape<typeof ReceivingReads>,
    Context.Service.Shape<typeof SendingReads>,
    Context.Service.Shape<typeof ReportReads>,
    Effect.Success<typeof FeatureReads.all> {}

/** All of it in one value: for a host, a tool or a test that looks at the whole. */
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
