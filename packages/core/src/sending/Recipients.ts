import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { Installation } from "../accounts/Installation.ts"
import * as ServedDomains from "../accounts/ServedDomains.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as FairSlots from "../base/FairSlots.ts"
import { cached } from "../base/ReadCache.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Rail } from "../ledger/Rail.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { type PayTerms, RecipientRefused, type RecipientUnreachable, Resolver } from "../nodes/Resolver.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import { IssuedOffers } from "../receiving/IssuedOffers.ts"
import * as OwnAddress from "../receiving/LightningAddress.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import type { Destination, LightningAddress } from "./Destination.ts"
import * as Instructions from "./Instructions.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { check, checkFetched, DestinationRefused, type Recipient, unpayable } from "./Recipient.ts"
import { SendingReads } from "./SendingReads.ts"

/** A decoded invoice from a payee's server, and the message to show once it is paid. */
export interface Invoiced {
  readonly bolt11: Bolt11.Bolt11
  readonly successAction: SuccessAction | null
}

/** Resolves a destination to its payee. */
export class Recipients extends Context.Service<
  Recipients,
  {
    /**
     * Finds the payee, first among our companies and then outside. A name is resolved through its domain's DNS
     * record (BIP 353), or as a Lightning address if there is no record. Fails with `RecipientRefused` if the
     * record is invalid or unsigned, and with `RecipientUnreachable` if it cannot be retrieved. Uses the
     * record's best payment method for the amount, and for the rail if one is given. Nothing is held or sent.
     */
    readonly find: (
      destination: Destination,
      amount: Msat,
      rail?: Rail
    ) => Effect.Effect<Recipient, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable>
    /** Returns the host of the payee's server that `find` would call, or undefined if none is needed. */
    readonly host: (destination: Destination) => Effect.Effect<string | undefined, StoreUnavailable>
    /**
     * Like `find`, but also checks that the company may pay this amount now and that no withdrawal already pays
     * this invoice. The error reveals only the company's own withdrawals. The company's requests to payees' servers
     * wait while too many are unanswered (`resolving`).
     */
    readonly payable: (
      companyId: CompanyId.CompanyId,
      destination: Destination,
      amount: Msat,
      rail?: Rail
    ) => Effect.Effect<Recipient, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable>
    /**
     * Requests a fresh invoice for exactly `amount`, and checks its network, amount, description and expiry. Like
     * in `payable`, a company's concurrent requests are limited if `companyId` is given.
     */
    readonly invoice: (
      terms: PayTerms,
      amount: Msat,
      companyId?: CompanyId.CompanyId
    ) => Effect.Effect<Invoiced, RecipientRefused | RecipientUnreachable>
  }
>()("@satrail/core/sending/Recipients") {}

const notFound = (message: string) => new DestinationRefused({ code: "recipient_not_found", message })

/**
 * Recognizes our own offers by their exact text, because a node cannot pay itself. The offer of a deleted
 * Lightning address is rejected.
 */
const offersIn = (nouns: NounReads["Service"], offers: typeof IssuedOffers.Service) =>
  Effect.fnUntraced(function* (bolt12: Bolt12) {
    const issued = yield* offers.byText(bolt12.offer)
    if (Option.isNone(issued)) return { _tag: "Bolt12" as const, bolt12 }
    const { companyId, lightningAddressId } = issued.value
    const address = lightningAddressId === null ? Option.none() : yield* nouns.get(OwnAddress.noun, companyId, lightningAddressId)
    if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis !== null))
      return yield* notFound("The Lightning address of this offer was deleted")
    return { _tag: "OwnOffer" as const, bolt12, offer: issued.value }
  })

/**
 * Returns the Lightning address in a destination, which may be written as its LNURL. The service may be unable to
 * request its own public URL.
 */
const addressIn = (destination: Destination): LightningAddressText.LightningAddressText | undefined => {
  if (destination._tag === "LightningAddress") return destination.address
  return destination._tag === "Lnurl" ? LightningAddressText.ofUrl(destination.lnurl.url) : undefined
}

const untagged = ({ handle, domain }: LightningAddress["address"]) => `${handle.replace(/\+.*$/, "")}@${domain}` as const

/**
 * Caches found addresses briefly. A call that changes or deletes an address returns only after that time. A
 * missing address is not cached, because it may be created at any time.
 */
const addressesIn = (nouns: NounReads["Service"]) =>
  cached((text: string) => {
    const at = text.lastIndexOf("@")
    return nouns.named(OwnAddress.noun, { handle: text.slice(0, at), domain: text.slice(at + 1) })
  }, Option.isSome)

export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const nouns = yield* NounReads
  const sending = yield* SendingReads
  const receiver = yield* LightningReceiver
  const resolver = yield* Resolver
  const findOffer = offersIn(nouns, yield* IssuedOffers)
  const ownAddress = addressesIn(nouns)
  const instructions = yield* Instructions.make
  const { network } = yield* Installation
  const rules = { ...(yield* Bounds), ...(yield* PaymentOptions), network }
  const servedFor = yield* ServedDomains.make
  const slots = FairSlots.make({ most: rules.resolving.atOnce, each: rules.resolving.perCompany })
  const inTurn = <A, E>(companyId: CompanyId.CompanyId | undefined, request: Effect.Effect<A, E>) =>
    companyId === undefined ? request : slots.run(companyId, request)

  /**
   * Finds the payee of a name at a domain that we do not serve. Uses the DNS record, which may lead to one of
   * our companies, or else treats the name as a Lightning address.
   */
  const findOutside = Effect.fnUntraced(function* (destination: LightningAddress, amount: Msat, rail: Rail | undefined) {
    const way = yield* instructions(destination, amount, rail)
    return way === undefined
      ? { _tag: "LnurlPay" as const, terms: yield* resolver.offer(destination.address.url) }
      : { ...(yield* find(undefined, way, amount, rail)), instructed: way }
  })

  const find = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | undefined,
    ...[destination, amount, rail]: Parameters<Recipients["Service"]["find"]>
  ): Effect.fn.Return<Recipient, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable> {
    switch (destination._tag) {
      case "LightningInvoice": {
        const bolt11 = destination.invoice
        if (bolt11.payee !== receiver.nodeId) return { _tag: "Invoice", bolt11 }
        const invoice = yield* receiving.invoiceByHash(bolt11.paymentHash)
        // Compare hash and text, because another invoice may copy our payment hash and have a different amount.
        if (invoice._tag === "Some" && invoice.value.paymentRequest === bolt11.paymentRequest)
          return { _tag: "OwnInvoice", bolt11, invoice: invoice.value }
        return yield* notFound("The invoice is signed by this service's node, but this service has no record of it")
      }
      case "LightningAddress": {
        const { domain, address } = destination.address
        const { isServed, isOf } = yield* servedFor(domain)
        if (!isServed) return yield* inTurn(companyId, findOutside(destination, amount, rail))
        // A tag only matters to the payee. The payment goes to the same address (LUD-16).
        const found = yield* ownAddress(untagged(destination.address))
        const isTheirs = found._tag === "Some" && isOf(found.value.companyId)
        if (isTheirs && found.value.deletedAtMillis === null) return { _tag: "OwnLightningAddress", lightningAddress: found.value }
        return yield* notFound(`There is no Lightning address ${address}`)
      }
      case "Lnurl": {
        const address = addressIn(destination)
        if (address !== undefined && (yield* servedFor(address.domain)).isServed)
          return yield* find(companyId, { _tag: "LightningAddress", address }, amount, rail)
        return { _tag: "LnurlPay", terms: yield* inTurn(companyId, resolver.offer(destination.lnurl.url)) }
      }
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
    find: (...ask) => find(undefined, ...ask),
    host: Effect.fnUntraced(function* (destination) {
      const address = addressIn(destination)
      if (address !== undefined && (yield* servedFor(address.domain)).isServed) return undefined
      return destination._tag === "Lnurl" ? new URL(destination.lnurl.url).host : address?.domain
    }),
    payable: Effect.fnUntraced(function* (companyId, destination, amount, rail) {
      const recipient = yield* find(companyId, destination, amount, rail)
      yield* Effect.fromResult(check(recipient, amount, rules, yield* Clock.currentTimeMillis))
      // An invoice that is settled internally while still open at the node could also be paid from outside.
      if (recipient._tag === "OwnInvoice" && receiver.lacks?.has("cancel") === true) {
        return yield* new DestinationRefused({
          code: "invoice_not_payable",
          message: "This invoice was issued by this service, whose node cannot cancel it. Pay the payee's Lightning address instead"
        })
      }
      // Two withdrawals cannot pay one invoice. The store enforces this when sending; this check reports it
      // earlier.
      const earlier = "bolt11" in recipient ? yield* sending.withdrawalByHash(recipient.bolt11.paymentHash) : undefined
      if (earlier?._tag !== "Some") return recipient
      return yield* earlier.value.companyId === companyId
        ? new DestinationRefused({
            code: "payment_hash_used",
            message: "Another withdrawal exists for this invoice. Get a new invoice from the payee"
          })
        : new DestinationRefused({
            code: "invoice_not_payable",
            message: "This invoice was already paid or is being paid. Get a new invoice from the payee"
          })
    }),
    invoice: Effect.fnUntraced(function* (terms, amount, companyId) {
      const { paymentRequest, successAction } = yield* inTurn(companyId, resolver.invoice(terms, amount))
      const nowMillis = yield* Clock.currentTimeMillis
      const checked = Result.flatMap(Result.mapError(Bolt11.decode(paymentRequest), unpayable), (bolt11) =>
        Result.map(checkFetched(bolt11, terms, amount, rules, nowMillis), () => ({ bolt11, successAction }))
      )
      return yield* Effect.mapError(Effect.fromResult(checked), (reason) => new RecipientRefused({ reason: `its server sent ${reason}` }))
    })
  })
})

export const layer = Layer.effect(Recipients, make)
