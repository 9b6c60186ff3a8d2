import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import {
  type HoldAsk,
  type InvoiceState,
  type Issued,
  LightningReceiver,
  NodeUnavailable,
  PaymentHashTaken,
  type Settled
} from "@satrail/core/nodes/LightningReceiver"
import { hex } from "@scure/base"
import { Effect, HashMap, Option, Redacted, Result, Stream } from "effect"
import type { Event } from "./Event.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as World from "./World.ts"

/** The final CLTV delta that we require, in blocks. */
export const minFinalCltvExpiry = 80

/** The error of a paused node. */
const away = (operation: string) =>
  new NodeUnavailable({ operation, cause: new Error("The sandbox node is paused") })

/**
 * The preimage is derived from the seed and our id for the invoice, so that a repeated request returns the same
 * invoice.
 */
export const preimageOf = (world: World.World, id: string): Preimage.Preimage =>
  Preimage.make(hex.encode(world.keys.secret(`invoice/${id}`)))

/** Returns the preimage that proves an invoice's payment. */
export const proofOf = (world: World.World, { id, stage }: Lightning.Invoice): Preimage.Preimage =>
  (stage._tag === "settled" ? stage.preimage : undefined) ?? preimageOf(world, id)

/** Returns the id of the invoice that the node creates for the `index`th payment of an offer. */
export const invoiceOfOffer = (offerId: string, index: number): string =>
  `${Lightning.ofOffer}${offerId}/${index}`

const offerIdOf = (id: string): string | undefined =>
  id.startsWith(Lightning.ofOffer) ? id.split("/")[1] : undefined

/** Returns an invoice if it is this node's. */
const own = (
  state: World.State,
  node: string,
  paymentHash: PaymentHash.PaymentHash
): Lightning.Invoice | undefined => {
  const invoice = Lightning.invoice(state.lightning, paymentHash)
  return invoice?.node === node ? invoice : undefined
}

/** Returns an invoice's text, which never changes. */
const written = (world: World.World, invoice: Omit<Lightning.Invoice, "stage">): string => {
  const { id, node, description, paymentHash, amount, timestampSeconds, expirySeconds } = invoice
  const draft = {
    network: world.network,
    ...(amount !== null && { amount }),
    timestampSeconds,
    paymentHash,
    paymentSecret: hex.encode(world.keys.secret(`secret/${id}`)),
    ...(description._tag === "Text"
      ? { description: description.text }
      : { descriptionHash: description.sha256 }),
    expirySeconds,
    minFinalCltvExpiry
  }
  // Encoding fails only if the description is too long. Callers must check its length first, so a failure is a
  // bug.
  return Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(world.keys.node(node).privateKey)))
}

const issue =
  (
    world: World.World,
    node: string,
    { id, amount, description, expirySeconds, paymentHash: given }: HoldAsk,
    isHold = false
  ) =>
  (state: World.State, nowMillis: number): Result.Result<World.Decision<Issued>, PaymentHashTaken> => {
    const paymentHash = given ?? Preimage.hashOf(preimageOf(world, id))
    const known = Lightning.invoice(state.lightning, paymentHash)
    if (given !== undefined && known !== undefined) return Result.fail(new PaymentHashTaken({ paymentHash }))
    const timestampSeconds = Math.floor(nowMillis / 1000)
    const kind = isHold ? { isHold: true as const } : {}
    const invoice = known ?? {
      node,
      id,
      paymentHash,
      amount,
      description,
      timestampSeconds,
      expirySeconds,
      ...kind
    }
    const issued = { paymentHash, paymentRequest: written(world, invoice) }
    const { node: _, ...draft } = invoice
    return World.decided(
      known === undefined ? [{ _tag: "InvoiceIssued", ...Network.notOurs(node), ...draft }] : [],
      () => issued
    )
  }

/** Like real nodes, ours closes an expired invoice unless a payment of it is already held. */
export const isClosed = (invoice: Lightning.Invoice, nowMillis: number): boolean =>
  invoice.stage._tag === "canceled" ||
  (invoice.stage._tag === "open" && nowMillis >= Bolt11.expiresAtSeconds(invoice) * 1000)

const stateOf = (
  world: World.World,
  height: number,
  invoice: Lightning.Invoice | undefined,
  nowMillis: number
): InvoiceState => {
  if (invoice === undefined) return { _tag: "unknown" }
  if (isClosed(invoice, nowMillis)) return { _tag: "canceled" }
  const { stage } = invoice
  switch (stage._tag) {
    case "settled":
      return { _tag: "settled", received: stage.received, preimage: proofOf(world, invoice) }
    case "accepted":
      return stage.endsAtHeight === null
        ? { _tag: "accepted" }
        : {
            _tag: "accepted",
            held: { received: Lightning.delivered(stage.hops), blocksLeft: stage.endsAtHeight - height }
          }
    default:
      return { _tag: stage._tag }
  }
}

type Canceled = Effect.Success<ReturnType<LightningReceiver["Service"]["cancelInvoice"]>>

const cancel =
  (world: World.World, node: string, paymentHash: PaymentHash.PaymentHash) =>
  (state: World.State): Result.Result<World.Decision<Canceled>, NodeUnavailable> => {
    const invoice = own(state, node, paymentHash)
    if (invoice === undefined) {
      return Result.fail(
        new NodeUnavailable({
          operation: "cancelInvoice",
          cause: new Error(`The node has no invoice ${paymentHash}`)
        })
      )
    }
    const tag = invoice.stage._tag
    if (tag === "accepted" || tag === "settled") return World.decided([], () => ({ _tag: tag }))
    const preimage = Redacted.make(preimageOf(world, invoice.id))
    return World.decided(tag === "open" ? [{ _tag: "InvoiceCanceled", paymentHash }] : [], () => ({
      _tag: "canceled" as const,
      preimage
    }))
  }

/** Returns a hold invoice of this node, and the state of a service's payment of it. */
const holding = (
  state: World.State,
  node: string,
  operation: string,
  paymentHash: PaymentHash.PaymentHash
) => {
  const invoice = own(state, node, paymentHash)
  const payer = Lightning.payerOf(state.lightning, paymentHash)
  return invoice?.isHold === true
    ? Result.succeed({
        invoice,
        ofPayer: payer === undefined ? undefined : { ...Network.notOurs(payer), paymentHash }
      })
    : Result.fail(
        new NodeUnavailable({ operation, cause: new Error(`The node has no hold invoice ${paymentHash}`) })
      )
}

const settleHeld =
  (world: World.World, node: string, paymentHash: PaymentHash.PaymentHash, given: Preimage.Preimage | null) =>
  (state: World.State, nowMillis: number) =>
    Result.flatMap(holding(state, node, "settle", paymentHash), ({ invoice, ofPayer }) => {
      const { _tag } = invoice.stage
      if (_tag !== "accepted")
        return World.decided([], () => (isClosed(invoice, nowMillis) ? "canceled" : _tag))
      if (!Preimage.proves(given ?? preimageOf(world, invoice.id), paymentHash))
        return Result.fail(
          new NodeUnavailable({
            operation: "settle",
            cause: new Error("Not the preimage of the invoice's hash")
          })
        )
      const settled: Event = {
        _tag: "InvoiceSettled",
        paymentHash,
        atMillis: nowMillis,
        ...(given && { preimage: given })
      }
      return World.decided(
        ofPayer ? [settled, { _tag: "PaymentSettled", ...ofPayer }] : [settled],
        () => "settled" as const
      )
    })

const cancelHeld = (node: string, paymentHash: PaymentHash.PaymentHash) => (state: World.State) =>
  Result.map(
    holding(state, node, "cancel", paymentHash),
    ({ invoice, ofPayer }): World.Decision<"settled" | "canceled"> => {
      const { _tag } = invoice.stage
      if (_tag === "settled") return { events: [], answer: () => "settled" }
      const [released, canceled] = [
        { _tag: "InvoiceReleased", paymentHash } as const,
        { _tag: "InvoiceCanceled", paymentHash } as const
      ]
      const failed = ofPayer
        ? [{ _tag: "PaymentFailed", ...ofPayer, reason: "incorrect_payment_details" } as const]
        : []
      const events = { open: [canceled], accepted: [released, canceled, ...failed], canceled: [] }[_tag]
      return { events, answer: () => "canceled" }
    }
  )

/** Maximum number of settlements per page. A subscriber with an old cursor catches up page by page. */
const batch = 500

/** Returns the settlements after `index`, and the index from which to continue. */
const settledAfter = (
  world: World.World,
  node: string,
  index: number
): readonly [ReadonlyArray<Settled>, number] => {
  const state = world.state()
  const { notices, settleIndex } = state.lightning
  const last = Math.min(settleIndex, index + batch)
  const found: Array<Settled> = []
  for (let at = index + 1; at <= last; at++) {
    const paymentHash = Option.getOrUndefined(HashMap.get(notices, at))
    const invoice = paymentHash === undefined ? undefined : own(state, node, paymentHash)
    if (invoice?.stage._tag === "settled") {
      const offerId = offerIdOf(invoice.id)
      found.push({
        paymentHash: invoice.paymentHash,
        received: invoice.stage.received,
        preimage: proofOf(world, invoice),
        settledAtMillis: invoice.stage.atMillis,
        ...(offerId !== undefined && { offerId }),
        cursor: String(at)
      })
    }
  }
  return [found, last]
}

/**
 * A cursor that this node cannot have issued belongs to an earlier sandbox. In that case, report everything
 * again, which is safe.
 */
const indexOf = (world: World.World, after: string | null): number => {
  const index = Number(after)
  return Number.isInteger(index) && index <= world.state().lightning.settleIndex ? index : 0
}

const settlements = (world: World.World, node: string, after: string | null) =>
  Stream.suspend(() =>
    Stream.paginate(indexOf(world, after), (index) => {
      const more: Effect.Effect<readonly [ReadonlyArray<Settled>, Option.Option<number>], NodeUnavailable> =
        Effect.suspend(() => {
          if (world.isPaused("node")) return Effect.fail(away("settlements"))
          const [found, last] = settledAfter(world, node, index)
          return found.length > 0 || last > index
            ? Effect.succeed([found, Option.some(last)])
            : Effect.andThen(world.changed(), more)
        })
      return more
    })
  )

/** The receiving side of a service's node. Defaults to our node. */
export const make = (world: World.World, node = Network.us): LightningReceiver["Service"] => {
  const reachable = <A, E>(operation: string, effect: Effect.Effect<A, E>) =>
    World.reachable(world, "node", () => away(operation), effect)
  return LightningReceiver.of({
    nodeId: world.keys.node(node).publicKey,
    network: world.network,
    createInvoice: ({ id, amount, description, expirySeconds }) =>
      reachable(
        "createInvoice",
        world.commit(issue(world, node, { id, amount, description, expirySeconds }))
      ).pipe(Effect.catchTag("PaymentHashTaken", Effect.die)),
    // A hold invoice's preimage differs from that of an ordinary invoice with the same id.
    holding: {
      createInvoice: (ask) =>
        reachable("createInvoice", world.commit(issue(world, node, { ...ask, id: `hold/${ask.id}` }, true))),
      settle: ({ paymentHash }, preimage) =>
        reachable("settle", world.commit(settleHeld(world, node, paymentHash, preimage))),
      cancel: ({ paymentHash }) => reachable("cancel", world.commit(cancelHeld(node, paymentHash)))
    },
    lookupInvoice: (paymentHash) =>
      reachable(
        "lookupInvoice",
        world.commit((state, nowMillis) =>
          World.decided([], () =>
            stateOf(world, state.chain.tip.height, own(state, node, paymentHash), nowMillis)
          )
        )
      ),
    cancelInvoice: (paymentHash) =>
      reachable("cancelInvoice", world.commit(cancel(world, node, paymentHash))),
    settlements: (after) => settlements(world, node, after)
  })
}
