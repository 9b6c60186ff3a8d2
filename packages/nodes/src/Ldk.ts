import * as Worker from "@satrail/core/base/Worker"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver, type NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { Context, Effect, Layer, type Redacted } from "effect"
import * as LdkBooks from "./LdkBooks.ts"
import * as LdkIssuer from "./LdkIssuer.ts"
import * as LdkOffers from "./LdkOffers.ts"
import * as LdkReceiver from "./LdkReceiver.ts"
import * as LdkSender from "./LdkSender.ts"
import * as LdkSocket from "./LdkSocket.ts"

export type { Mark, Marks } from "./LdkSocket.ts"

export interface Options extends LdkSocket.Options {
  /**
   * Each invoice's preimage is derived from this secret and the invoice's id. The secret must never change.
   */
  readonly invoiceSecret: Redacted.Redacted
}

/** Reads the node's identity without starting the node. */
export const identity = ({
  socket,
  deadlineMillis = 20_000
}: {
  readonly socket: string
  readonly deadlineMillis?: number
}) =>
  LdkSocket.exchange(socket, { method: "hello", params: {} }, LdkSocket.Here, deadlineMillis).pipe(
    Effect.catchTag("Refused", LdkSocket.unavailable("identity")),
    Effect.map((here) => ({
      nodeId: here.node,
      network: here.network,
      version: here.version,
      isStarted: here.started,
      progress: LdkSocket.progressOf(here)
    }))
  )

/** Returns the capacity and state of a running node's channels. */
export const capacity = ({
  socket,
  deadlineMillis = 20_000
}: {
  readonly socket: string
  readonly deadlineMillis?: number
}) =>
  Effect.gen(function* () {
    const { run } = yield* LdkSocket.exchange(
      socket,
      { method: "hello", params: {} },
      LdkSocket.Here,
      deadlineMillis
    )
    const balance = yield* LdkSocket.exchange(
      socket,
      { method: "balance", params: {}, run },
      LdkBooks.Balance,
      deadlineMillis
    )
    return LdkBooks.capacityOf(balance)
  }).pipe(Effect.catchTag("Refused", LdkSocket.unavailable("balance")))

/**
 * Interval at which the node's progress is read, and stored if it has changed. A backup younger than this
 * cannot be distinguished from the node itself.
 */
const seenEvery = "1 second"

/**
 * Receives payments with LDK, issues offers, pays invoices and offers, and reads the node's books. Starts the
 * node. Fails if the node doesn't respond, is not the expected one, or has a store older than the stored mark.
 * Such a node is never started.
 */
export const layer = (
  options: Options
): Layer.Layer<
  LightningReceiver | LightningSender | OfferSender | OfferIssuer | LightningBooks,
  NodeUnavailable
> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const node = LdkSocket.make(options)
      yield* node.begin
      yield* Worker.runOpen("the LDK node's progress", Effect.ignore(node.see), Effect.sleep(seenEvery))
      return Context.make(LightningReceiver, LdkReceiver.make(node, options)).pipe(
        Context.add(LightningSender, LdkSender.make(node)),
        Context.add(OfferIssuer, LdkIssuer.make(node)),
        Context.add(OfferSender, LdkOffers.make(node)),
        Context.add(LightningBooks, LdkBooks.make(node))
      )
    })
  )
