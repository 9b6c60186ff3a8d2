import { Context, Effect, Layer } from "effect"
import type { Spender } from "../accounts/Limits.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { DestinationRefused, Recipient } from "./Recipient.ts"
import type { Withdrawal } from "./Withdrawal.ts"

// A withdrawal asks hooks whether it may begin, before anything is held for it. What the store alone can decide at the commit (the balance, limits
// that are counted, a freeze) is no hook: the Change itself carries that guard, so that no list can leave it out.

/** A withdrawal before it begins. */
export interface Asked {
  /** The company that pays, with its limits where whoever asks knows them, and the key of the request. */
  readonly spender: Spender
  readonly recipient: Recipient
  /** The record, as it is committed if no hook objects. Its `createdAtMillis` is the time of the request. */
  readonly withdrawal: Withdrawal
}

/** What a withdrawal waits for: the approval of another key than `approvalAskedBy`, until it expires. Its money is held, and it has no job. */
export interface Waits extends Pick<Withdrawal, "approvalAskedBy"> {
  readonly approval: "waiting"
  readonly approvalExpiresAtMillis: number
}

/** Decides whether a withdrawal may begin. */
export interface Hook {
  /**
   * Undefined: it may begin. Runs at each request, again at the approval, and when a voucher is claimed; the last two cannot wait, so only a refusal
   * counts there. Estimates ask no hook.
   */
  readonly mayBegin: (asked: Asked) => Effect.Effect<Waits | undefined, DestinationRefused | StoreUnavailable>
}

/** Every hook, in the order in which they are asked. */
export const Hooks = Context.Reference<ReadonlyArray<Hook>>("@satrail/core/sending/WithdrawalHooks/Hooks", { defaultValue: () => [] })

/** Adds a hook after those that are there. A host provides it to `Satrail.layer`; a feature declares it in its `extensions`. */
export const layer = (hook: Hook): Layer.Layer<never> =>
  Layer.effect(
    Hooks,
    Effect.map(Hooks, (hooks) => [...hooks, hook])
  )

/** Asks every hook. One refusal refuses; otherwise the withdrawal waits for what the first hook says that has it wait. */
export const make = Effect.map(Hooks, (hooks) =>
  Effect.fnUntraced(function* (asked: Asked) {
    let waits: Waits | undefined
    for (const { mayBegin } of hooks) {
      const found = yield* mayBegin(asked)
      waits ??= found
    }
    return waits
  })
)
