import type { Msat } from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Tasks } from "../ledger/Tasks.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import type { Claim } from "./Claim.ts"
import * as Destination from "./Destination.ts"
import type { Endings } from "./Endings.ts"
import type { LightningPayments } from "./LightningPayments.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import type { Next, Ready } from "./Payouts.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as Transfers from "./Transfers.ts"
import type { Ways } from "./Ways.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** A server at this host has to say first who is paid. */
export interface Elsewhere {
  readonly host: string
}

interface Found {
  readonly recipient: Recipient.Recipient
  readonly successAction: SuccessAction | null
}

type Unfound = Recipient.DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable

/** The first step of a withdrawal: whom does it go to? Then that way is taken. `lightning` pays those outside. */
export const make = Effect.fnUntraced(function* (endings: Endings, lightning: LightningPayments, ways: Ways) {
  const recipients = yield* Recipients
  const tasks = yield* Tasks
  const options = yield* PaymentOptions
  const rules = { ...(yield* Bounds), ...options }
  const transfers = yield* Transfers.make(endings)
  const { fail } = endings

  /** The payee by a fresh invoice from the server that made this pay request. It may be a company of ours: then it is paid inside. */
  const accept = Effect.fnUntraced(function* (found: Extract<Recipient.Recipient, { readonly _tag: "Offer" }>, amount: Msat) {
    yield* Effect.fromResult(Recipient.check(found, amount, rules, yield* Clock.currentTimeMillis))
    const { bolt11, successAction } = yield* recipients.invoice(found.offer, amount)
    return { recipient: yield* recipients.find({ _tag: "LightningInvoice", invoice: bolt11 }, amount), successAction }
  })

  const find = Effect.fnUntraced(function* (
    destination: Destination.Destination,
    { amount, rail }: Withdrawal.Withdrawal
  ): Effect.fn.Return<Found, Unfound> {
    const recipient = yield* recipients.find(destination, amount, rail)
    return recipient._tag === "Offer" ? yield* accept(recipient, amount) : { recipient, successAction: null }
  })

  const send = (
    withdrawal: Withdrawal.Withdrawal,
    { recipient, successAction }: Found,
    task: Claim
  ): Effect.Effect<Next | Ready, StoreUnavailable | NodeUnavailable> => {
    switch (recipient._tag) {
      case "OwnInvoice":
        return transfers.forInvoice(withdrawal, recipient.invoice, task)
      case "OwnLightningAddress":
        return transfers.toAddress(withdrawal, recipient.lightningAddress, recipient.lightningAddress.id, task)
      case "OwnOffer":
        return transfers.forOffer(withdrawal, recipient.offer, task)
      case "OwnChainAddress":
        return transfers.toAddress(withdrawal, recipient.onChainAddress, null, task)
      case "Invoice":
        return lightning.send(withdrawal, ways.byInvoice(withdrawal, recipient.bolt11, successAction), task)
      case "Bolt12":
        return lightning.send(withdrawal, ways.byOffer(withdrawal, recipient.bolt12), task)
      case "Address": {
        const { address, instructed } = recipient
        // What was one of our own addresses when it was confirmed holds nothing for mining, and would wait for ever.
        if (instructed !== undefined && withdrawal.networkAllowance === 0n) return fail(withdrawal, "recipient_refused", task)
        const paymentRequest = instructed && Destination.text(instructed)
        return Effect.succeed({
          withdrawal,
          scriptPubKey: address.scriptPubKey,
          task,
          ...(paymentRequest !== undefined && { paymentRequest })
        })
      }
      case "Offer":
        return Effect.die("an invoice is no offer")
    }
  }

  const destinationOf = (withdrawal: Withdrawal.Withdrawal) =>
    Effect.orDie(Effect.fromResult(Destination.parse(withdrawal.recipient, withdrawal.network)))

  /** A claim of which the request took a good part is renewed; undefined when another process has it. */
  const renewed = Effect.fnUntraced(function* (task: Claim): Effect.fn.Return<Claim | undefined, StoreUnavailable> {
    const atMillis = yield* Clock.currentTimeMillis
    if (atMillis < task.atMillis + task.leaseMillis / 4) return task
    return (yield* tasks.postpone(task, atMillis + task.leaseMillis)) ? { ...task, atMillis } : undefined
  })

  /** Pays who is found, if the finding was not ended: nothing was sent yet. */
  const to = (finding: Effect.Effect<Found | undefined, Unfound>, withdrawal: Withdrawal.Withdrawal, task: Claim) =>
    Effect.gen(function* (): Effect.fn.Return<Next | Ready, Unfound | NodeUnavailable> {
      const found = yield* finding
      if (found === undefined) return { millis: 0 }
      const mine = yield* renewed(task)
      return mine === undefined ? "done" : yield* send(withdrawal, found, mine)
    }).pipe(
      Effect.catchTags({
        DestinationRefused: () => fail(withdrawal, "recipient_refused", task),
        RecipientRefused: () => fail(withdrawal, "recipient_refused", task),
        // Nothing was sent yet, so giving up is safe; but a server may come back, so not at once.
        RecipientUnreachable: () =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
            atMillis - Withdrawal.beganAtMillis(withdrawal) > options.resolveForMillis
              ? fail(withdrawal, "recipient_unreachable", task)
              : Effect.succeed<Next>("later")
          )
      })
    )

  return {
    /** The same, without asking anybody outside: where one has to be asked, says whom. */
    beginHere: Effect.fnUntraced(function* (withdrawal: Withdrawal.Withdrawal, task: Claim) {
      const destination = yield* destinationOf(withdrawal)
      const host = yield* recipients.host(destination)
      return host === undefined ? yield* to(find(destination, withdrawal), withdrawal, task) : ({ host } satisfies Elsewhere)
    }),
    /** Asks outside as well, until `stopping`. */
    begin: (withdrawal: Withdrawal.Withdrawal, task: Claim, stopping: Effect.Effect<void>) =>
      Effect.flatMap(destinationOf(withdrawal), (destination) => {
        const asking = Effect.interruptible(find(destination, withdrawal))
        return to(Effect.raceFirst(asking, Effect.interruptible(Effect.as(stopping, undefined))), withdrawal, task)
      })
  }
})
