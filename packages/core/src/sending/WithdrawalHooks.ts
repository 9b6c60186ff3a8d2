import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { Spender } from "../accounts/Limits.ts"
import { Stops } from "../accounts/Stops.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { LimitExceeded } from "../ledger/Limit.ts"
import type { DestinationRefused, Recipient } from "./Recipient.ts"
import type { Withdrawal } from "./Withdrawal.ts"

// Hooks decide whether a withdrawal may start, before any funds are held for it. Conditions that only the store
// can check at the commit (balance, counted limits, freeze) are not hooks. The Change itself carries these
// conditions, so no list of hooks can omit them.

/** A withdrawal before it starts. */
export interface Asked {
  /** The paying company, with its limits if the caller has read them, and the request's API key. */
  readonly spender: Spender
  readonly recipient: Recipient
  /** The record as it will be committed if no hook objects. Its `createdAtMillis` is the time of the request. */
  readonly withdrawal: Withdrawal
}

/**
 * Makes a withdrawal wait for approval by a key other than `approvalAskedBy`, until the approval expires. The
 * withdrawal's funds are held, and it has no job.
 */
export interface Waits extends Pick<Withdrawal, "approvalAskedBy"> {
  readonly approval: "waiting"
  readonly approvalExpiresAtMillis: number
}

/** Whether a withdrawal may be sent. One that may `never` be sent fails, unless its node may already have it. */
export type MaySend = "now" | "later" | "never"

/** Decides whether a withdrawal may start. */
export interface Hook {
  /**
   * Returns undefined if the withdrawal may start. Runs at each request, again at the approval, and when a
   * voucher is claimed. At an approval or a claim, the withdrawal cannot wait, so only an error counts.
   * Estimates do not run hooks.
   */
  readonly mayBegin: (asked: Asked) => Effect.Effect<Waits | undefined, DestinationRefused | StoreUnavailable>
  /**
   * Runs when a voucher is created, before its payee is known, and for a transfer to another company, which cannot
   * wait. `amount` includes fees.
   */
  readonly mayIssue?: (asked: {
    readonly spender: Spender
    readonly amount: Msat
    /** The company that a transfer pays; absent for a voucher. */
    readonly to?: CompanyId
  }) => Effect.Effect<void, LimitExceeded | StoreUnavailable>
  /** Runs before a confirmed withdrawal is sent, and every few seconds while it waits. */
  readonly maySend?: (withdrawal: Withdrawal) => Effect.Effect<MaySend, StoreUnavailable>
}

/** All hooks, in the order in which they run. */
export const Hooks = Context.Reference<ReadonlyArray<Hook>>("@satrail/core/sending/WithdrawalHooks/Hooks", {
  defaultValue: () => []
})

/**
 * Adds a hook after the existing ones. A host program provides this layer to `Satrail.layer`; a feature
 * declares the layer in its `extensions`.
 */
export const layer = (hook: Hook): Layer.Layer<never> =>
  Layer.effect(
    Hooks,
    Effect.map(Hooks, (hooks) => [...hooks, hook])
  )

/** Asks the operator's stops and every hook whether a withdrawal may be sent. */
export const sending = Effect.gen(function* () {
  const stops = yield* Stops
  const hooks = yield* Hooks
  return Effect.fnUntraced(function* (withdrawal: Withdrawal): Effect.fn.Return<MaySend, StoreUnavailable> {
    if (yield* stops.waits(withdrawal.companyId)) return "later"
    for (const { maySend } of hooks) {
      const answer = maySend === undefined ? "now" : yield* maySend(withdrawal)
      if (answer !== "now") return answer
    }
    return "now"
  })
})

/** Runs every hook for vouchers and transfers. */
export const issuing = Effect.map(Hooks, (hooks) =>
  Effect.fnUntraced(function* (asked: Parameters<NonNullable<Hook["mayIssue"]>>[0]) {
    for (const { mayIssue } of hooks) if (mayIssue !== undefined) yield* mayIssue(asked)
  })
)

/**
 * Runs every hook. Any error rejects the withdrawal. Otherwise, the first `Waits` that a hook returns decides
 * what the withdrawal waits for.
 */
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
