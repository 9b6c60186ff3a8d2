import * as Bip21 from "@satrail/bitcoin/Bip21"
import type { LightningAddressText } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Clock, Effect, Result } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { Installation } from "../accounts/Installation.ts"
import { Dns, type Validated } from "../base/Dns.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Rail } from "../ledger/Rail.ts"
import { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import * as PayableOffers from "./PayableOffers.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { check, DestinationRefused } from "./Recipient.ts"

/**
 * Returns the DNS name with a user's payment instructions (BIP 353), or undefined if no such name is possible
 * (RFC 1035, section 2.3.4).
 */
export const nameOf = ({ handle, domain }: Pick<LightningAddressText, "handle" | "domain">): string | undefined => {
  const name = `${handle}.user._bitcoin-payment.${domain}`
  return name.length <= 253 && name.split(".").every((label) => label.length > 0 && label.length <= 63) ? name : undefined
}

/** Time to live of our DNS records, in seconds. A replaced offer is visible within the hour. */
export const ttlSeconds = 3600

/** Formats a string for a zone file, as strings of at most 255 bytes. */
const strings = (text: string) => (text.match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(" ")

/** Returns the zone file line that publishes an offer under this name. */
export const zoneLine = (name: string, offer: string): string => `${name}. ${ttlSeconds} IN TXT ${strings(`bitcoin:?lno=${offer}`)}`

/**
 * Returns the only `bitcoin:` URI among a name's records, or undefined if there is none. Rejects the name if
 * there are several URIs, or if the record is unsigned or unreadable. Such a record may come from an attacker,
 * so there is no fallback to a Lightning address. The failure's text completes "The payee declined the payment:
 * …".
 */
export const uriOf = ({ texts, isSigned }: Validated): Result.Result<string | undefined, string> => {
  const [uri, ...others] = texts.filter(Bip21.isBip21)
  if (uri === undefined) return Result.succeed(undefined)
  if (others.length > 0) return Result.fail("its domain's DNS has more than one bitcoin: record for it (BIP 353)")
  if (!isSigned) return Result.fail("its domain's DNS has a bitcoin: record for it that is not signed (DNSSEC)")
  if (uri.length > Destination.maxLength || !/^[!-~]+$/.test(uri)) return Result.fail("its domain's DNS record is not a valid bitcoin: URI")
  return Result.succeed(uri)
}

const known = ["Bolt12Offer", "LightningInvoice", "ChainAddress"] as const
type Way = Extract<Destination.Destination, { readonly _tag: (typeof known)[number] }>

const isWay = (destination: Destination.Destination, at: number): destination is Way => destination._tag === known[at]

/**
 * Returns the supported payment methods of a record's URI, best first: the offer, the invoice, then the
 * address. Ignores a method in another method's parameter, and an LNURL, because a record must state what to
 * pay, not where to request it. The failure's text completes "The payee declined the payment: …".
 */
export const waysOf = (
  uri: string,
  amount: Msat.Msat,
  network: Network,
  able: Destination.Ways
): Result.Result<ReadonlyArray<Way>, string> =>
  Result.gen(function* () {
    const refused = ({ message }: { readonly message: string }) => `its domain's DNS record cannot be paid: ${message}`
    const { address, amount: wanted, lightning, offer } = yield* Result.mapError(Bip21.parse(uri, network), refused)
    if (wanted !== undefined && wanted !== amount)
      return yield* Result.fail(`its domain's DNS record is for ${Msat.inSats(Msat.toSats(wanted))}`)
    const read = [offer, lightning, address].map((text) => (text === undefined ? undefined : Destination.parse(text, network, able)))
    const ways = read.flatMap((way, at) => (way !== undefined && Result.isSuccess(way) && isWay(way.success, at) ? [way.success] : []))
    if (ways.length > 0) return ways
    const wrong = read.find((way) => way !== undefined && Result.isFailure(way))
    return yield* Result.fail(
      wrong !== undefined && Result.isFailure(wrong)
        ? refused(wrong.failure)
        : "its domain's DNS record has no payment method that this service supports"
    )
  })

/**
 * Returns the first payment method that can be used now for this amount and, if a rail is given, on this rail.
 * If none can be used, fails with the reason that applies to the first one.
 */
export const chosen = (
  ways: ReadonlyArray<Way>,
  amount: Msat.Msat,
  rail: Rail | undefined,
  rules: Parameters<typeof check>[2],
  nowMillis: number
): Result.Result<Way, DestinationRefused | RecipientRefused> => {
  const tried = ways
    .filter(({ _tag }) => rail === undefined || rail === (_tag === "ChainAddress" ? "on_chain" : "lightning"))
    .map((way): Result.Result<Way, DestinationRefused> => {
      if (way._tag === "ChainAddress")
        return Result.map(check({ _tag: "Address", address: way.address }, amount, rules, nowMillis), () => way)
      if (way._tag === "Bolt12Offer") return Result.map(check({ _tag: "Bolt12", bolt12: way.bolt12 }, amount, rules, nowMillis), () => way)
      const { invoice } = way
      if (invoice.amount !== undefined && invoice.amount !== amount)
        return Result.fail(
          new DestinationRefused({
            code: "amount_mismatch",
            message: `The invoice in the DNS record of the payee's domain is for ${Msat.inSats(Msat.toSatsCeiling(invoice.amount))}`
          })
        )
      return Result.map(check({ _tag: "Invoice", bolt11: invoice }, amount, rules, nowMillis), () => way)
    })
  return (
    tried.find(Result.isSuccess) ??
    tried[0] ??
    Result.fail(new RecipientRefused({ reason: "its domain's DNS record no longer has a payment method for this rail" }))
  )
}

const certain = Effect.mapError(
  (_: unknown) => new RecipientUnreachable({ reason: "its domain's DNS gave no conclusive response (BIP 353)" })
)

/**
 * Resolves the payment method that a name's domain publishes for this amount. Undefined if the domain certainly
 * has no record, so the name may be a Lightning address. In that case, a name written with ₿ fails, because it
 * cannot be a Lightning address.
 */
export const make = Effect.gen(function* () {
  const { validated } = yield* Dns
  const { network } = yield* Installation
  const rules = { ...(yield* Bounds), ...(yield* PaymentOptions) }
  const waysFor = yield* PayableOffers.make

  const refused = Effect.mapError((reason: string) => new RecipientRefused({ reason }))

  return Effect.fnUntraced(function* (
    { address, isInDns }: Destination.LightningAddress,
    amount: Msat.Msat,
    rail: Rail | undefined
  ): Effect.fn.Return<Way | undefined, DestinationRefused | RecipientRefused | RecipientUnreachable | StoreUnavailable> {
    if (validated === undefined && isInDns)
      return yield* new DestinationRefused({
        code: "unsupported",
        message: `This service does not look up names in the DNS (BIP 353). Try ${address.address} as a Lightning address`
      })
    const name = nameOf(address)
    const found = validated === undefined || name === undefined ? undefined : yield* certain(validated(name))
    const uri = found && (yield* refused(Effect.fromResult(uriOf(found))))
    if (uri === undefined && isInDns)
      return yield* new DestinationRefused({
        code: "recipient_not_found",
        message: `The domain ${address.domain} has no BIP 353 record for ${address.handle}`
      })
    if (uri === undefined) return undefined
    const ways = yield* refused(Effect.fromResult(waysOf(uri, amount, network, yield* waysFor(uri))))
    return yield* Effect.fromResult(chosen(ways, amount, rail, rules, yield* Clock.currentTimeMillis))
  })
})
