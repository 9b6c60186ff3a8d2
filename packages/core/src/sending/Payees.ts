import type { Msat } from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { waitMillis } from "../accounts/Stops.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Tasks } from "../ledger/Tasks.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import type { Claim } from "./Claim.ts"
import * as Destination from "./Destination.ts"
import type { WithdrawalOutcomes } from "./WithdrawalOutcomes.ts"
import type { LightningPayments } from "./LightningPayments.ts"
import { PaymentOptions, resolveForMillis } from "./PaymentOptions.ts"
import type { Next, Ready } from "./Payouts.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as Transfers from "./Transfers.ts"
import type { NodePayments } from "./NodePayments.ts"
import * as Unreachable from "./Unreachable.ts"
import type * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"

/** The payee is unknown until a server at this host responds. */
export interface Elsewhere {
  readonly host: string
}

interface Found {
  readonly recipient: Recipient.Recipient
  readonly successAction: SuccessAction | null
}

type Unfound = Recipient.DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable

/** Makes a function that finds the payee, and requests an invoice from its server if there is one. */
const finding = Effect.gen(function* () {
  const recipients = yield* Recipients
  const rules = { ...(yield* Bounds), ...(yield* PaymentOptions) }

  /**
   * Requests a fresh invoice from the server behind this pay request. An invoice of one of our companies is
   * settled internally.
   */
  const accept = Effect.fnUntraced(function* (
    found: Extract<Recipient.Recipient, { readonly _tag: "LnurlPay" }>,
    amount: Msat
  ) {
    yield* Effect.fromResult(Recipient.check(found, amount, rules, yield* Clock.currentTimeMillis))
    const { bolt11, successAction } = yield* recipients.invoice(found.terms, amount)
    return {
      recipient: yield* recipients.find({ _tag: "LightningInvoice", invoice: bolt11 }, amount),
      successAction
    }
  })

  return Effect.fnUntraced(function* (
    destination: Destination.Destination,
    { amount, rail }: Withdrawal.Withdrawal
  ): Effect.fn.Return<Found, Unfound> {
    const recipient = yield* recipients.find(destination, amount, rail)
    return recipient._tag === "LnurlPay"
      ? yield* accept(recipient, amount)
      : { recipient, successAction: null }
  })
})

/** The first step of a withdrawal: finds the payee, then pays it. `lightning` pays external payees. */
export const make = Effect.fnUntraced(function* (
  outcomes: WithdrawalOutcomes,
  lightning: LightningPayments,
  nodePayments: NodePayments
) {
  const recipients = yield* Recipients
  const tasks = yield* Tasks
  const maySend = yield* WithdrawalHooks.sending
  const find = yield* finding
  const transfers = yield* Transfers.make(outcomes)
  const { fail } = outcomes
  const unreachable = Unreachable.make()

  const send = (
    withdrawal: Withdrawal.Withdrawal,
    { recipient, successAction }: Found,
    task: Claim
  ): Effect.Effect<Next | Ready, StoreUnavailable | NodeUnavailable> => {
    switch (recipient._tag) {
      case "OwnInvoice":
        return transfers.forInvoice(withdrawal, recipient.invoice, task)
      case "OwnLightningAddress":
        return transfers.toAddress(
          withdrawal,
          recipient.lightningAddress,
          recipient.lightningAddress.id,
          task
        )
      case "OwnOffer":
        return transfers.withoutInvoice(withdrawal, recipient.offer, task)
      case "OwnChainAddress":
        return transfers.toAddress(withdrawal, recipient.onChainAddress, null, task)
      case "Invoice":
        return lightning.send(
          withdrawal,
          nodePayments.byInvoice(withdrawal, recipient.bolt11, successAction),
          task
        )
      case "Bolt12":
        return lightning.send(withdrawal, nodePayments.byOffer(withdrawal, recipient.bolt12), task)
      case "Address": {
        const { address, instructed } = recipient
        // When the withdrawal was confirmed, the instructions named one of our own addresses, so no mining
        // allowance is held. A payout to an external address would wait forever.
        if (instructed !== undefined && withdrawal.networkAllowance === 0n)
          return fail(withdrawal, "recipient_refused", task)
        const paymentRequest = instructed && Destination.text(instructed)
        return Effect.succeed({
          withdrawal,
          scriptPubKey: address.scriptPubKey,
          task,
          ...(paymentRequest !== undefined && { paymentRequest })
        })
      }
      case "LnurlPay":
        return Effect.die("the payee has already issued an invoice")
    }
  }

  /**
   * Renews a claim if the request to the payee used up a large part of the claim. Undefined if another process
   * holds the task.
   */
  const renewed = Effect.fnUntraced(function* (
    task: Claim
  ): Effect.fn.Return<Claim | undefined, StoreUnavailable> {
    const atMillis = yield* Clock.currentTimeMillis
    if (atMillis < task.atMillis + task.leaseMillis / 4) return task
    return (yield* tasks.postpone(task, atMillis + task.leaseMillis)) ? { ...task, atMillis } : undefined
  })

  /** Pays the payee once it is found. If the lookup is interrupted, nothing has been sent. */
  const to = (
    finding: Effect.Effect<Found | undefined, Unfound>,
    withdrawal: Withdrawal.Withdrawal,
    task: Claim
  ) => {
    const firstMillis = unreachable.take(withdrawal.id)
    return Effect.gen(function* (): Effect.fn.Return<Next | Ready, Unfound | NodeUnavailable> {
      const found = yield* finding
      if (found === undefined) return { millis: 0 }
      const mine = yield* renewed(task)
      if (mine === undefined) return "done"
      // The payee's server may have taken a long time, and may belong to a thief.
      return (yield* maySend(withdrawal)) !== "now"
        ? { millis: waitMillis }
        : yield* send(withdrawal, found, mine)
    }).pipe(
      Effect.catchTags({
        DestinationRefused: () => fail(withdrawal, "recipient_refused", task),
        RecipientRefused: () => fail(withdrawal, "recipient_refused", task),
        // Nothing has been sent yet, so giving up is safe. Do not fail immediately, because the server may
        // recover.
        RecipientUnreachable: () =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) => {
            if (
              atMillis - unreachable.keep(withdrawal, firstMillis ?? atMillis, atMillis) <=
              resolveForMillis
            )
              return Effect.succeed<Next>("later")
            unreachable.take(withdrawal.id)
            return fail(withdrawal, "recipient_unreachable", task)
          })
      })
    )
  }

  return {
    /** Starts a withdrawal without external requests. If one is needed, returns the host to call instead. */
    beginHere: Effect.fnUntraced(function* (
      withdrawal: Withdrawal.Withdrawal,
      destination: Destination.Destination,
      task: Claim
    ) {
      const host = yield* recipients.host(destination)
      return host === undefined
        ? yield* to(find(destination, withdrawal), withdrawal, task)
        : ({ host } satisfies Elsewhere)
    }),
    /** Starts a withdrawal, with external requests. They are interrupted when `stopping` completes. */
    begin: (
      withdrawal: Withdrawal.Withdrawal,
      destination: Destination.Destination,
      task: Claim,
      stopping: Effect.Effect<void>
    ) => {
      const asking = Effect.interruptible(find(destination, withdrawal))
      return to(
        Effect.raceFirst(asking, Effect.interruptible(Effect.as(stopping, undefined))),
        withdrawal,
        task
      )
    }
  }
})
