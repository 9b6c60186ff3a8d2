import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { given } from "@satrail/core/features/index"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Changes from "@satrail/core/service/Changes"
import type { Records } from "@satrail/core/service/Records"
import { Context, Effect, Layer, Ref } from "effect"
import * as Accounts from "./AccountReads.ts"
import * as Audit from "./AuditStore.ts"
import * as Events from "./Events.ts"
import * as Features from "./features/index.ts"
import * as Ledger from "./LedgerReads.ts"
import { newestFirst, type Read, recordOf } from "./Reading.ts"
import * as Receiving from "./ReceivingReads.ts"
import * as Reports from "./ReportReads.ts"
import * as Sending from "./SendingReads.ts"
import * as State from "./State.ts"
import * as Jobs from "./Tasks.ts"
import { apply } from "./Verdict.ts"

/** The state that `layer` uses. It is new, unless a caller provides a state in order to inspect it. */
export const Held = Context.Reference<Ref.Ref<State.State> | undefined>("@satrail/memory/Memory/Held", { defaultValue: () => undefined })

/**
 * Implements the three storage ports on one immutable value, which is lost when the process exits. Used by
 * tests and simulations.
 */
export const layer: Layer.Layer<Journal | Records | Tasks> = Layer.effectContext(
  Effect.gen(function* () {
    const features = yield* given
    const state = (yield* Held) ?? (yield* Ref.make(State.empty))
    yield* Ref.update(state, (empty) => ({ ...empty, features }))
    const read: Read = (select) => Effect.map(Ref.get(state), select)
    const nouns = NounReads.of({
      get: (noun, companyId, id) => recordOf(read, noun)(companyId, id),
      named: (noun, name) => read((now) => State.named(now, noun, name)),
      newestFirst: (noun, companyId, before, limit) => read((now) => newestFirst(State.ownedBy(now, noun, companyId), before, limit))
    })
    return Context.make(
      Journal,
      Changes.journal((change) => Effect.flatten(Ref.modify(state, (now) => apply(now, change))))
    ).pipe(
      Context.add(Tasks, Jobs.make(state)),
      Context.add(NounReads, nouns),
      Context.add(LedgerReads, Ledger.make(read)),
      Context.add(AuditStore, Audit.over(state, features)),
      Context.add(EventStore, Events.over(state)),
      Context.add(AccountReads, Accounts.make(read)),
      Context.add(ReceivingReads, Receiving.make(read)),
      Context.add(SendingReads, Sending.make(read)),
      Context.add(ReportReads, Reports.make(read)),
      Context.merge(Features.reads(read, state))
    )
  })
)
