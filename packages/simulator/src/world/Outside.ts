import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Id from "@satrail/core/base/Id"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender, type Payment } from "@satrail/core/nodes/LightningSender"
import { OfferSender, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Keys from "@satrail/sandbox/Keys"
import * as Lightning from "@satrail/sandbox/Lightning"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Clock, Context, Effect, Exit, HashMap, Layer, Redacted } from "effect"
import { graceMillis } from "./Wire.ts"

const network = (name: string) =>
  Layer.mergeAll(Sandbox.layer({ seed: name, network: "regtest" }), FixedRates.layer())

/** The simulated nodes, chain and web of a scenario. */
export type Ports = Context.Context<Layer.Success<ReturnType<typeof network>>>

/** Actions of a node operator, a routing node or a miner that the sandbox itself doesn't offer. */
export interface Outside {
  /** The sandbox's ports, with these actions applied. */
  readonly ports: Ports
  /** Sets the network's fee rate. */
  readonly setFeeRate: (satsPerVbyte: number) => void
  /** Makes the node delete its failed payments, as a node operator can. */
  readonly forget: () => void
  /** While routes are down, the node permanently fails every new payment. */
  readonly setRoutesDown: (areDown: boolean) => void
  /** Makes the node report the next canceled invoice as closed but still accept payments for it. */
  readonly lieOnce: () => void
}

/** Runs an effect synchronously. */
export type Now = <A, E>(effect: Effect.Effect<A, E>) => Exit.Exit<A, E>

/** A sender that fails payments while routes are down, and that can delete failed payments. */
const sending = (inner: LightningSender["Service"], sandbox: Sandbox.Sandbox["Service"], now: Now) => {
  let areRoutesDown = false
  const forgotten = new Set<string>()
  /** Payments that failed before any route was tried. */
  const failed = new Set<string>()
  const noRoute: Payment = { _tag: "failed", reason: "no_route" }
  const sender = LightningSender.of({
    ...inner,
    graceMillis,
    pay: Effect.fnUntraced(function* (ask) {
      const { paymentHash } = ask.invoice
      const before = Lightning.sent((yield* sandbox.state).lightning, paymentHash)
      forgotten.delete(paymentHash)
      if (areRoutesDown && (before === undefined || before.stage._tag === "failed")) {
        failed.add(paymentHash)
        return noRoute
      }
      failed.delete(paymentHash)
      return yield* inner.pay(ask)
    }),
    lookupPayment: (paymentHash) =>
      Effect.map(inner.lookupPayment(paymentHash), (payment) => {
        const said = payment._tag === "notFound" && failed.has(paymentHash) ? noRoute : payment
        return said._tag === "failed" && forgotten.has(paymentHash) ? { _tag: "notFound" } : said
      })
  })
  return {
    sender,
    forget: () => {
      const exit = now(sandbox.state)
      if (Exit.isFailure(exit)) return
      for (const { paymentHash, stage } of HashMap.values(exit.value.lightning.sent)) {
        if (stage._tag === "failed") forgotten.add(paymentHash)
      }
      for (const paymentHash of failed) forgotten.add(paymentHash)
    },
    setRoutesDown: (areDown: boolean) => {
      areRoutesDown = areDown
    }
  }
}

/** Same as `sending`, for payments to offers. */
const offering = (inner: OfferSender["Service"], sandbox: Sandbox.Sandbox["Service"], now: Now) => {
  let areRoutesDown = false
  const forgotten = new Set<string>()
  const failed = new Set<string>()
  const noRoute: OfferPayment = { _tag: "failed", reason: "no_route" }
  const offers = OfferSender.of({
    ...inner,
    graceMillis,
    payOffer: Effect.fnUntraced(function* (ask) {
      const { attempt } = ask
      if (failed.has(attempt) && !forgotten.has(attempt)) return noRoute
      const isNew = Lightning.tried((yield* sandbox.state).lightning, attempt) === undefined
      forgotten.delete(attempt)
      failed.delete(attempt)
      if (!areRoutesDown || !isNew) return yield* inner.payOffer(ask)
      failed.add(attempt)
      return noRoute
    }),
    lookupOffer: (attempt) =>
      Effect.map(inner.lookupOffer(attempt), (payment) => {
        const said = payment._tag === "notFound" && failed.has(attempt) ? noRoute : payment
        return said._tag === "failed" && forgotten.has(attempt) ? { _tag: "notFound" } : said
      })
  })
  return {
    offers,
    forget: () => {
      const exit = now(sandbox.state)
      if (Exit.isFailure(exit)) return
      for (const [at, { paymentHash, reason }] of HashMap.entries(exit.value.lightning.tried)) {
        const sent = paymentHash === null ? undefined : Lightning.sent(exit.value.lightning, paymentHash)
        if (reason !== null || sent?.stage._tag === "failed") forgotten.add(at.slice(at.indexOf("/") + 1))
      }
      for (const attempt of failed) forgotten.add(attempt)
    },
    setRoutesDown: (areDown: boolean) => {
      areRoutesDown = areDown
    }
  }
}

/** A receiver that can be made to report the next canceled invoice as closed without closing it. */
const receiving = (
  inner: LightningReceiver["Service"],
  sandbox: Sandbox.Sandbox["Service"],
  keys: Keys.Keys
) => {
  let lies = false
  const receiver = LightningReceiver.of({
    ...inner,
    cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
      const invoice = Lightning.invoice((yield* sandbox.state).lightning, paymentHash)
      if (!lies || invoice?.stage._tag !== "open") return yield* inner.cancelInvoice(paymentHash)
      lies = false
      return {
        _tag: "canceled",
        preimage: Redacted.make(Preimage.make(Id.toHex(keys.secret(`invoice/${invoice.id}`))))
      }
    })
  })
  return {
    receiver,
    lieOnce: () => {
      lies = true
    }
  }
}

/** Returns the outside world of this name in its initial state. */
export const make = async (name: string, now: Now, clock: Clock.Clock): Promise<Outside> => {
  // The network also depends on the time at which it is built.
  const built = Effect.provideService(
    Effect.scoped(Layer.build(Layer.fresh(network(name)))),
    Clock.Clock,
    clock
  )
  const ports = await Effect.runPromise(built)
  const sandbox = Context.get(ports, Sandbox.Sandbox)
  const source = Context.get(ports, ChainSource)
  const { sender, ...invoices } = sending(Context.get(ports, LightningSender), sandbox, now)
  const { offers, ...byOffer } = offering(Context.get(ports, OfferSender), sandbox, now)
  const { receiver, lieOnce } = receiving(
    Context.get(ports, LightningReceiver),
    sandbox,
    Keys.make(name, "regtest")
  )
  let feeRate = 2
  return {
    ports: ports.pipe(
      Context.add(LightningSender, sender),
      Context.add(OfferSender, offers),
      Context.add(LightningReceiver, receiver),
      Context.add(
        ChainSource,
        ChainSource.of({
          ...source,
          feeRate: Effect.andThen(
            source.feeRate,
            Effect.sync(() => feeRate)
          )
        })
      )
    ),
    setFeeRate: (satsPerVbyte) => {
      feeRate = satsPerVbyte
    },
    forget: () => {
      invoices.forget()
      byOffer.forget()
    },
    setRoutesDown: (areDown) => {
      invoices.setRoutesDown(areDown)
      byOffer.setRoutesDown(areDown)
    },
    lieOnce
  }
}
