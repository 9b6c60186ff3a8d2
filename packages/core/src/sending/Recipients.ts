import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import { Bounds } from "../accounts/Bounds.ts"
import * as Domain from "../accounts/Domain.ts"
import { isInForce } from "../accounts/Domain.ts"
import { Installation } from "../accounts/Installation.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { remembering } from "../base/Known.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Rail } from "../ledger/Rail.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { type Offer, RecipientRefused, type RecipientUnreachable, Resolver } from "../nodes/Resolver.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import { IssuedOffers } from "../receiving/IssuedOffers.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import type { Destination, LightningAddress } from "./Destination.ts"
import * as Instructions from "./Instructions.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { check, checkFetched, DestinationRefused, type Recipient } from "./Recipient.ts"
import { SendingReads } from "./SendingReads.ts"

/** An invoice that a recipient's server sent, read, and what is to be shown once it is paid. */
export interface Invoiced {
  readonly bolt11: Bolt11.Bolt11
  readonly successAction: SuccessAction | null
}

/** Finds out who is behind a destination. */
export class Recipients extends Context.Service<
  Recipients,
  {
    /**
     * Looks among our own first, then asks the outside: for a name its domain's DNS (BIP 353), and the Lightning address where that has no record. A record
     * that is invalid or not signed is refused, and one that cannot be had unreachable. Of what a record has, the best that fits the amount and, where one
     * is given, the rail. Moves nothing.
     */
    readonly find: (
      destination: Destination,
      amount: Msat,
      rail?: Rail
    ) => Effect.Effect<Recipient, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable>
    /** The host of the payee's server that `find` has to request; undefined where it needs no request. */
    readonly host: (destination: Destination) => Effect.Effect<string | undefined, StoreUnavailable>
    /** What `find` does, if the company may pay it this amount now: by the rules, and no withdrawal pays it already. Only the company\'s own are named. */
    readonly payable: (
      companyId: CompanyId.CompanyId,
      destination: Destination,
      amount: Msat,
      rail?: Rail
    ) => Effect.Effect<Recipient, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable>
    /** A fresh invoice for exactly `amount`, checked: the right network, amount and description, and time left. */
    readonly invoice: (offer: Offer, amount: Msat) => Effect.Effect<Invoiced, RecipientRefused | RecipientUnreachable>
  }
>()("@satrail/core/sending/Recipients") {}

const notFound = (message: string) => new DestinationRefused({ code: "recipient_not_found", message })

/** An offer is ours where it is one that we gave out, to the letter: a node cannot pay itself. One of a deleted Lightning address goes with it. */
const offersIn = (receiving: ReceivingReads["Service"], offers: IssuedOffers["Service"]) =>
  Effect.fnUntraced(function* (bolt12: Bolt12) {
    const issued = yield* offers.byText(bolt12.offer)
    if (Option.isNone(issued)) return { _tag: "Bolt12" as const, bolt12 }
    const { companyId, lightningAddressId } = issued.value
    const address = lightningAddressId === null ? Option.none() : yield* receiving.lightningAddressById(companyId, lightningAddressId)
    if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis !== null))
      return yield* notFound("The Lightning address of this offer was deleted")
    return { _tag: "OwnOffer" as const, bolt12, offer: issued.value }
  })

const untagged = ({ handle, domain }: LightningAddress["address"]) => `${handle.replace(/\+.*$/, "")}@${domain}` as const

/** One that was found is known for a moment: whoever changes or deletes it is answered after that. One that was not may be made at any time. */
const addressesIn = (receiving: ReceivingReads["Service"]) =>
  remembering((text: string) => {
    const at = text.lastIndexOf("@")
    return receiving.lightningAddress(text.slice(0, at), text.slice(at + 1))
  }, Option.isSome)

/** Whether a domain's addresses are ours to look up, and whose they must be: undefined for our own domain, where they are anybody's. */
const servedDomains = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const { domain: ownDomain } = yield* Installation
  const { domainGraceMillis } = yield* Domain.Options
  return Effect.fnUntraced(function* (domain: string) {
    if (domain === ownDomain) return { isServed: true, owner: undefined }
    const owner = Option.getOrUndefined(yield* accounts.domain(domain))
    return { isServed: owner !== undefined && isInForce(owner, yield* Clock.currentTimeMillis, domainGraceMillis), owner }
  })
})

export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const receiver = yield* LightningReceiver
  const resolver = yield* Resolver
  const findOffer = offersIn(receiving, yield* IssuedOffers)
  const ownAddress = addressesIn(receiving)
  const instructions = yield* Instructions.make
  const { network } = yield* Installation
  const rules = { ...(yield* Bounds), ...(yield* PaymentOptions), network }
  const servedFor = yield* servedDomains

  /** Somebody else's name: what its record says is paid, which may be one of ours, or the Lightning address where there is none. */
  const findOutside = Effect.fnUntraced(function* (destination: LightningAddress, amount: Msat, rail: Rail | undefined) {
    const way = yield* instructions(destination, amount, rail)
    return way === undefined
      ? { _tag: "Offer" as const, offer: yield* resolver.offer(destination.address.url) }
      : { ...(yield* find(way, amount, rail)), instructed: way }
  })

  const find: Recipients["Service"]["find"] = Effect.fnUntraced(function* (destination, amount, rail): Effect.fn.Return<
    Recipient,
    DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable
  > {
    switch (destination._tag) {
      case "LightningInvoice": {
        const bolt11 = destination.invoice
        if (bolt11.payee !== receiver.nodeId) return { _tag: "Invoice", bolt11 }
        const invoice = yield* receiving.invoiceByHash(bolt11.paymentHash)
        // Hash and text both: an invoice that only borrows the hash of one of ours has an amount of its own.
        if (invoice._tag === "Some" && invoice.value.paymentRequest === bolt11.paymentRequest)
          return { _tag: "OwnInvoice", bolt11, invoice: invoice.value }
        return yield* notFound("The invoice is signed by this service's node, and this service does not know it")
      }
      case "LightningAddress": {
        const { domain, address } = destination.address
        const { isServed, owner } = yield* servedFor(domain)
        if (!isServed) return yield* findOutside(destination, amount, rail)
        // A tag is the payee's own business: the payment goes to the same address (LUD-16).
        const found = yield* ownAddress(untagged(destination.address))
        const isTheirs = found._tag === "Some" && (owner === undefined || owner.companyId === found.value.companyId)
        if (isTheirs && found.value.deletedAtMillis === null) return { _tag: "OwnLightningAddress", lightningAddress: found.value }
        return yield* notFound(`There is no Lightning address ${address}`)
      }
      case "Lnurl":
        return { _tag: "Offer", offer: yield* resolver.offer(destination.lnurl.url) }
      case "Bolt12Offer":
        return yield* findOffer(destination.bolt12)
      case "ChainAddress": {
        const [onChainAddress] = yield* receiving.onChainAddresses([destination.address.scriptPubKey])
        return onChainAddress === undefined
          ? { _tag: "Address", address: destination.address }
          : { _tag: "OwnChainAddress", onChainAddress }
      }
    }
  })

  return Recipients.of({
    find,
    host: Effect.fnUntraced(function* (destination) {
      if (destination._tag === "Lnurl") return new URL(destination.lnurl.url).host
      if (destination._tag !== "LightningAddress") return undefined
      const { domain } = destination.address
      return (yield* servedFor(domain)).isServed ? undefined : domain
    }),
    payable: Effect.fnUntraced(function* (companyId, destination, amount, rail) {
      const recipient = yield* find(destination, amount, rail)
      yield* Effect.fromResult(check(recipient, amount, rules, yield* Clock.currentTimeMillis))
      // Paid inside while it stays open at the node, it could be paid from outside as well.
      if (recipient._tag === "OwnInvoice" && receiver.lacks?.has("cancel") === true) {
        return yield* new DestinationRefused({
          code: "invoice_not_payable",
          message: "The invoice is one of this service's own, and its node cannot close it: pay the recipient's Lightning address instead"
        })
      }
      // Two withdrawals cannot pay one invoice; the store ensures it when one is sent, and here it is reported in time.
      const earlier = "bolt11" in recipient ? yield* sending.withdrawalByHash(recipient.bolt11.paymentHash) : undefined
      if (earlier?._tag !== "Some") return recipient
      return yield* earlier.value.companyId === companyId
        ? new DestinationRefused({ code: "payment_hash_used", message: "Another withdrawal was made for this invoice: ask for a new one" })
        : new DestinationRefused({
            code: "invoice_not_payable",
            message: "The invoice was paid already, or is being paid: ask for a new one"
          })
    }),
    invoice: Effect.fnUntraced(function* (offer, amount) {
      const { paymentRequest, successAction } = yield* resolver.invoice(offer, amount)
      const nowMillis = yield* Clock.currentTimeMillis
      const checked = Result.flatMap(
        Result.mapError(Bolt11.decode(paymentRequest), ({ message }) => message),
        (bolt11) => Result.map(checkFetched(bolt11, offer, amount, rules, nowMillis), () => ({ bolt11, successAction }))
      )
      return yield* Effect.mapError(
        Effect.fromResult(checked),
        (reason) => new RecipientRefused({ reason: `The recipient's server sent ${reason}` })
      )
    })
  })
})

export const layer = Layer.effect(Recipients, make)
