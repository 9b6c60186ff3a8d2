import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Array as Arr, Clock, Context, Effect, Layer, Option, Result } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { Installation } from "../accounts/Installation.ts"
import * as ServedDomains from "../accounts/ServedDomains.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as FairSlots from "../base/FairSlots.ts"
import { cached } from "../base/ReadCache.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Rail } from "../ledger/Rail.ts"
import { type PayTerms, RecipientRefused, type RecipientUnreachable, Resolver } from "../nodes/Resolver.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import { IssuedOffers } from "../receiving/IssuedOffers.ts"
import * as OwnAddress from "../receiving/LightningAddress.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import type { Destination, LightningAddress } from "./Destination.ts"
import * as Instructions from "./Instructions.ts"
import * as PaymentChecks from "./PaymentChecks.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import {
  type Amount,
  amountFor,
  checkFetched,
  DestinationRefused,
  type Recipient,
  unpayable
} from "./Recipient.ts"

/** A decoded invoice from a payee's server, and the message to show once it is paid. */
export interface Invoiced {
  readonly bolt11: Bolt11.Bolt11
  readonly successAction: SuccessAction | null
}

/** A payment method, and the amount to pay with it. */
export interface Offered {
  readonly destination: Destination
  readonly amount: Amount
}

type Unpayable = DestinationRefused | RecipientRefused | RecipientUnreachable

const isUnpayable = (error: Unpayable | StoreUnavailable): error is Unpayable =>
  error._tag !== "StoreUnavailable"

/**
 * Returns the first success among the payment methods of one text (BIP 321), best first; if there is none, fails with
 * the first error.
 */
const firstOf = <A, B>(
  [method, ...others]: Arr.NonEmptyReadonlyArray<A>,
  attempt: (method: A) => Effect.Effect<B, Unpayable | StoreUnavailable>
): Effect.Effect<B, Unpayable | StoreUnavailable> =>
  Effect.catchIf(attempt(method), isUnpayable, (error) =>
    Arr.isArrayNonEmpty(others)
      ? Effect.catchIf(firstOf(others, attempt), isUnpayable, () => Effect.fail(error))
      : Effect.fail(error)
  )

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
      amount: Amount,
      rail?: Rail
    ) => Effect.Effect<
      Recipient,
      DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable
    >
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
      amount: Amount,
      rail?: Rail
    ) => Effect.Effect<
      Recipient,
      DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable
    >
    /**
     * Like `payable`, for the payment methods of one text, best first. Uses the first method that can be paid; if none
     * can, fails with the error of the first. Fails in any case if one of `alternatives`, all methods of the text, is
     * an invoice that was paid or may still be, because another method would pay the payee twice.
     */
    readonly choose: <A extends Offered>(
      companyId: CompanyId.CompanyId,
      methods: Arr.NonEmptyReadonlyArray<A>,
      alternatives: ReadonlyArray<Destination>
    ) => Effect.Effect<
      A & { readonly recipient: Recipient },
      DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable
    >
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
    const address =
      lightningAddressId === null
        ? Option.none()
        : yield* nouns.get(OwnAddress.noun, companyId, lightningAddressId)
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

const untagged = ({ handle, domain }: LightningAddress["address"]) =>
  `${handle.replace(/\+.*$/, "")}@${domain}` as const

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
  const resolver = yield* Resolver
  const findOffer = offersIn(nouns, yield* IssuedOffers)
  const ownAddress = addressesIn(nouns)
  const instructions = yield* Instructions.make
  const checks = yield* PaymentChecks.make
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
  const findOutside = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | undefined,
    destination: LightningAddress,
    amount: Amount,
    rail: Rail | undefined
  ): Effect.fn.Return<Recipient, Unpayable | StoreUnavailable> {
    const methods = yield* instructions(destination, amount, rail)
    if (methods === undefined)
      return { _tag: "LnurlPay" as const, terms: yield* resolver.offer(destination.address.url) }
    if (companyId !== undefined) yield* checks.unpaid(companyId, methods)
    return yield* firstOf(methods, (instructed) =>
      Effect.map(usable(companyId, instructed, amount, rail), (recipient) => ({ ...recipient, instructed }))
    )
  })

  const find = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | undefined,
    ...[destination, amount, rail]: Parameters<Recipients["Service"]["find"]>
  ): Effect.fn.Return<
    Recipient,
    DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable
  > {
    switch (destination._tag) {
      case "LightningInvoice": {
        const bolt11 = destination.invoice
        const invoice = yield* checks.ownInvoice(bolt11)
        return invoice === undefined ? { _tag: "Invoice", bolt11 } : { _tag: "OwnInvoice", bolt11, invoice }
      }
      case "LightningAddress": {
        const { domain, address } = destination.address
        const { isServed, isOf } = yield* servedFor(domain)
        if (!isServed) return yield* inTurn(companyId, findOutside(companyId, destination, amount, rail))
        // A tag only matters to the payee. The payment goes to the same address (LUD-16).
        const found = yield* ownAddress(untagged(destination.address))
        const isTheirs = found._tag === "Some" && isOf(found.value.companyId)
        if (isTheirs && found.value.deletedAtMillis === null)
          return { _tag: "OwnLightningAddress", lightningAddress: found.value }
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

  /** Finds the payee and checks that this method can be used now. */
  const usable = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | undefined,
    destination: Destination,
    amount: Amount,
    rail: Rail | undefined
  ): Effect.fn.Return<Recipient, Unpayable | StoreUnavailable> {
    const recipient = yield* find(companyId, destination, amount, rail)
    // The method in the record was checked when it was chosen.
    if (recipient.instructed !== undefined) return recipient
    yield* checks.payable(companyId, recipient, amountFor(recipient, amount))
    return recipient
  })

  return Recipients.of({
    find: (...ask) => find(undefined, ...ask),
    host: Effect.fnUntraced(function* (destination) {
      const address = addressIn(destination)
      if (address !== undefined && (yield* servedFor(address.domain)).isServed) return undefined
      return destination._tag === "Lnurl" ? new URL(destination.lnurl.url).host : address?.domain
    }),
    payable: (companyId, destination, amount, rail) => usable(companyId, destination, amount, rail),
    choose: Effect.fnUntraced(function* (companyId, methods, alternatives) {
      yield* checks.unpaid(companyId, alternatives)
      return yield* firstOf(methods, (method) =>
        Effect.map(usable(companyId, method.destination, method.amount, undefined), (recipient) => ({
          ...method,
          recipient
        }))
      )
    }),
    invoice: Effect.fnUntraced(function* (terms, amount, companyId) {
      const { paymentRequest, successAction } = yield* inTurn(companyId, resolver.invoice(terms, amount))
      const nowMillis = yield* Clock.currentTimeMillis
      const checked = Result.flatMap(Result.mapError(Bolt11.decode(paymentRequest), unpayable), (bolt11) =>
        Result.map(checkFetched(bolt11, terms, amount, rules, nowMillis), () => ({ bolt11, successAction }))
      )
      return yield* Effect.mapError(
        Effect.fromResult(checked),
        (reason) => new RecipientRefused({ reason: `its server sent ${reason}` })
      )
    })
  })
})

export const layer = Layer.effect(Recipients, make)
