import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { given } from "../features/core.ts"
import { Features as Given } from "@satrail/core/ledger/Features"
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
import * as Accounts from "@satrail/memory/AccountReads"
import * as Audit from "./AuditStore.ts"
import * as Events from "@satrail/memory/Events"
import * as Features from "../features/memory.ts"
import * as Ledger from "@satrail/memory/LedgerReads"
import { newestFirst, type Read } from "@satrail/memory/Reading"
import * as Receiving from "@satrail/memory/ReceivingReads"
import * as Reports from "@satrail/memory/ReportReads"
import * as Sending from "@satrail/memory/SendingReads"
import * as State from "@satrail/memory/State"
import * as Jobs from "@satrail/memory/Tasks"
import { apply } from "./Verdict.ts"

/** The state that `layer` uses. It is new, unless a caller provides a state in order to inspect it. */
export const Held = Context.Reference<Ref.Ref<State.State> | undefined>(
  "@satrail/service/memory/Memory/Held",
  {
    defaultValue: () => undefined
  }
)

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
      get: (noun, companyId, id) => read((now) => State.read(now, noun, companyId, id)),
      named: (noun, name) => read((now) => State.named(now, noun, name)),
      newestFirst: (noun, companyId, before, limit) =>
        read((now) => newestFirst(State.readBy(now, noun, companyId), before, limit))
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
      Context.merge(Features.reads(read, state)),
      Context.add(Given, features)
    )
  })
)
