import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver, type NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { Context, Effect, Layer, type Redacted, Schedule } from "effect"
import * as LdkBooks from "./LdkBooks.ts"
import * as LdkIssuer from "./LdkIssuer.ts"
import * as LdkOffers from "./LdkOffers.ts"
import * as LdkReceiver from "./LdkReceiver.ts"
import * as LdkSender from "./LdkSender.ts"
import * as LdkSocket from "./LdkSocket.ts"

export type { Mark, Marks } from "./LdkSocket.ts"

export interface Options extends LdkSocket.Options {
  /** What the preimages of our invoices are derived from, together with their ids. The same for ever. */
  readonly invoiceSecret: Redacted.Redacted
}

/** Asks the node who it is. It is not started by that. */
export const identity = ({ socket, deadlineMillis = 20_000 }: { readonly socket: string; readonly deadlineMillis?: number }) =>
  LdkSocket.exchange(socket, { method: "hello", params: {} }, LdkSocket.Here, deadlineMillis).pipe(
    Effect.catchTag("Refused", LdkSocket.unavailable("identity")),
    Effect.map(({ node, network, version, started }) => ({ nodeId: node, network, version, isStarted: started }))
  )

/** Asks a node that runs what its channels can carry, and how they stand. */
export const capacity = ({ socket, deadlineMillis = 20_000 }: { readonly socket: string; readonly deadlineMillis?: number }) =>
  Effect.gen(function* () {
    const { run } = yield* LdkSocket.exchange(socket, { method: "hello", params: {} }, LdkSocket.Here, deadlineMillis)
    const balance = yield* LdkSocket.exchange(socket, { method: "balance", params: {}, run }, LdkBooks.Balance, deadlineMillis)
    return LdkBooks.capacityOf(balance)
  }).pipe(Effect.catchTag("Refused", LdkSocket.unavailable("balance")))

/** How often the node is asked how far it has come, and that is kept where it has changed. A backup that is younger than this is not told from the node itself. */
const seenEvery = "1 second"

/**
 * LDK takes payments for us, issues offers, pays invoices and offers, and shows its books. Starts the node. Fails where it does not answer, is another one, or where its store is older than `marks`
 * say that it was seen: such a node is never started.
 */
export const layer = (
  options: Options
): Layer.Layer<LightningReceiver | LightningSender | OfferSender | OfferIssuer | LightningBooks, NodeUnavailable> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const node = LdkSocket.make(options)
      yield* node.begin
      yield* Effect.forkScoped(Effect.repeat(Effect.ignore(node.see), Schedule.spaced(seenEvery)))
      return Context.make(LightningReceiver, LdkReceiver.make(node, options)).pipe(
        Context.add(LightningSender, LdkSender.make(node)),
        Context.add(OfferIssuer, LdkIssuer.make(node)),
        Context.add(OfferSender, LdkOffers.make(node)),
        Context.add(LightningBooks, LdkBooks.make(node))
      )
    })
  )
