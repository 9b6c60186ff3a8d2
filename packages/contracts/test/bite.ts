import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as Changes from "@satrail/core/service/Changes"
import type { Change } from "@satrail/core/service/Changes"
import * as FeatureReads from "@satrail/core/service/FeatureReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import * as Journal from "@satrail/core/ledger/Journal"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { type AllReads, Records } from "@satrail/core/service/Records"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { all as features } from "@satrail/service/features/core"
import * as Memory from "@satrail/service/memory/Memory"
import { Context, Effect, Layer } from "effect"
import * as Mutants from "./mutants.ts"

type Ports = Journal.Journal | Records | Tasks
export type Commit = (
  change: Change
) => Effect.Effect<Journal.Applied, Changes.Refusal | Journal.StoreUnavailable>

/** Provides the same value for each of the read services. */
const readsOf = (all: AllReads): Context.Context<Records> =>
  Context.make(LedgerReads, all).pipe(
    Context.add(NounReads, all),
    Context.add(EventStore, all),
    Context.add(AuditStore, all),
    Context.add(AccountReads, all),
    Context.add(ReceivingReads, all),
    Context.add(SendingReads, all),
    Context.add(ReportReads, all),
    Context.merge(FeatureReads.from(features, all))
  )

/** The memory layer with these changes. */
export const sabotage = (spoil: {
  readonly commit?: (commit: Commit, records: AllReads) => Commit
  readonly records?: (records: AllReads) => Partial<AllReads>
  readonly tasks?: (tasks: Tasks["Service"]) => Partial<Tasks["Service"]>
}): Layer.Layer<Ports> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const [journal, records, tasks] = [yield* Journal.Journal, yield* Records, yield* Tasks]
      const commit: Commit = (change) => journal.commit(change)
      return Context.make(Journal.Journal, Changes.journal(spoil.commit?.(commit, records) ?? commit)).pipe(
        Context.merge(readsOf({ ...records, ...spoil.records?.(records) })),
        Context.add(Tasks, Tasks.of({ ...tasks, ...spoil.tasks?.(tasks) }))
      )
    })
  ).pipe(Layer.provide(Memory.layer))

/**
 * Tests mutants of the memory layer. Each mutant must break its listed guarantees, which the unchanged layer
 * provides.
 */
export const bites = <Promise extends string>(
  port: string,
  promises: { readonly [promise in Promise]: Effect.Effect<void, unknown, Ports> },
  spoiled: Mutants.Mutants<Ports, never, Promise>
): void => Mutants.bites(port, promises, sabotage({}), spoiled)
