import type { Network } from "@satrail/bitcoin/Network"
import { Context, Effect, Layer, Option } from "effect"
import { Installation } from "../accounts/Installation.ts"
import * as CompanyId from "../base/CompanyId.ts"
import * as Lag from "../features/webhooks/Lag.ts"
import * as Duty from "../ledger/Duty.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { Prices, type Quoted } from "../nodes/Prices.ts"

/** A role that one process of all has at a time. */
export interface Role {
  readonly role: Duty.Role
  /** Until when somebody has it, unless the lease is renewed, as it is for as long as its holder runs; in the past where nobody has. */
  readonly untilMillis: number
  /** How often it changed hands, or was taken up again. */
  readonly claims: number
}

export interface Standing {
  readonly network: Network
  /** The public key of this process's node. */
  readonly nodeId: string
  /** The roles that were ever taken up. */
  readonly roles: ReadonlyArray<Role>
  /** Since when the oldest event waits that no reader is shown yet, because a transaction before it still runs; null where none does. */
  readonly eventsSinceMillis: number | null
  /** The same of the oldest event that an enabled webhook endpoint has not got. */
  readonly webhooksSinceMillis: number | null
  /** The rates that are young enough to be used. */
  readonly rates: ReadonlyArray<Quoted>
}

/** How the whole installation stands, as the store and this process know it. */
export class Status extends Context.Service<Status, { readonly now: Effect.Effect<Standing, StoreUnavailable> }>()(
  "@satrail/core/service/Status"
) {}

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const events = yield* EventStore
  const { current } = yield* Prices
  const { network } = yield* Installation
  const { nodeId } = yield* LightningReceiver

  const roleOf = (role: Duty.Role) =>
    Effect.map(
      ledger.job(CompanyId.operator, Duty.idOf(role)),
      Option.map(({ dueAtMillis, attempts }): Role => ({ role, untilMillis: dueAtMillis, claims: attempts }))
    )
  const roles = Effect.map(
    Effect.forEach([...Duty.roles, `settlements of ${nodeId}` as const], roleOf, { concurrency: "unbounded" }),
    (found) => found.flatMap(Option.toArray)
  )

  return Status.of({
    now: Effect.map(
      Effect.all(
        {
          roles,
          eventsSinceMillis: events.unreadableSinceMillis,
          webhooksSinceMillis: Effect.provideService(Lag.waitingSinceMillis, LedgerReads, ledger),
          rates: current.pipe(Effect.catch(() => Effect.succeed([])))
        },
        { concurrency: "unbounded" }
      ),
      (found) => ({ network, nodeId, ...found })
    )
  })
})

export const layer = Layer.effect(Status, make)
