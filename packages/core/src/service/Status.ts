import type { Network } from "@satrail/bitcoin/Network"
import { Context, Effect, Layer, Option } from "effect"
import { Installation } from "../accounts/Installation.ts"
import * as CompanyId from "../base/CompanyId.ts"
import * as Duty from "../ledger/Duty.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Features } from "../ledger/Features.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import type { NounReads } from "../ledger/NounReads.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { Prices, type Quoted } from "../nodes/Prices.ts"

/** A role that only one process holds at a time. */
export interface Role {
  readonly role: string
  /**
   * Time at which the lease ends. The holder renews it for as long as it runs. A time in the past means that no
   * process holds the role.
   */
  readonly untilMillis: number
  /** Number of times that a process has taken the role. */
  readonly claims: number
}

/** The delay of a feature's work: when the oldest work began to wait; null if nothing waits. */
export interface Lag {
  readonly feature: string
  readonly sinceMillis: number | null
}

export interface Standing {
  readonly network: Network
  /** The public key of this process's node. */
  readonly nodeId: string
  /** All roles that have ever been taken. */
  readonly roles: ReadonlyArray<Role>
  /**
   * Publication time of the oldest event that readers can't see yet because an earlier transaction is still
   * running; null if there is none.
   */
  readonly eventsSinceMillis: number | null
  /** The delays of the features that measure one, including the host's. */
  readonly lags: ReadonlyArray<Lag>
  /** The rates that are recent enough to use. */
  readonly rates: ReadonlyArray<Quoted>
}

/** Reports the status of the whole installation, from the store and this process. */
export class Status extends Context.Service<
  Status,
  { readonly now: Effect.Effect<Standing, StoreUnavailable> }
>()("@satrail/core/service/Status") {}

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const events = yield* EventStore
  const { current } = yield* Prices
  const { network } = yield* Installation
  const { nodeId } = yield* LightningReceiver
  const ports = yield* Effect.context<LedgerReads | NounReads>()
  const all = yield* Features
  const measured = all.flatMap(({ name, lag }) => (lag === undefined ? [] : [{ feature: name, lag }]))

  const roleOf = (role: string) =>
    Effect.map(
      ledger.job(CompanyId.operator, Duty.idOf(role)),
      Option.map(({ dueAtMillis, attempts }): Role => ({ role, untilMillis: dueAtMillis, claims: attempts }))
    )
  const roles = Effect.map(
    Effect.forEach(
      [...Duty.roles, ...all.flatMap(({ roles = [] }) => roles), `settlements of ${nodeId}`],
      roleOf,
      {
        concurrency: "unbounded"
      }
    ),
    (found) => found.flatMap(Option.toArray)
  )

  return Status.of({
    now: Effect.map(
      Effect.all(
        {
          roles,
          eventsSinceMillis: events.unreadableSinceMillis,
          lags: Effect.forEach(
            measured,
            ({ feature, lag }) =>
              Effect.map(lag.sinceMillis, (sinceMillis): Lag => ({ feature, sinceMillis })),
            {
              concurrency: "unbounded"
            }
          ).pipe(Effect.provideContext(ports)),
          rates: current.pipe(Effect.catch(() => Effect.succeed([])))
        },
        { concurrency: "unbounded" }
      ),
      (found) => ({ network, nodeId, ...found })
    )
  })
})

export const layer = Layer.effect(Status, make)
