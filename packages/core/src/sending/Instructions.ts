import * as Bip21 from "@satrail/bitcoin/Bip21"
import type { LightningAddressText } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Clock, Effect, Result } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { Installation } from "../accounts/Installation.ts"
import { Names, type Validated } from "../base/Names.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Rail } from "../ledger/Rail.ts"
import { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import * as PayableOffers from "./PayableOffers.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { check, DestinationRefused } from "./Recipient.ts"

/** The name at which a domain's DNS has what its user is paid by (BIP 353); undefined where there can be none (RFC 1035, section 2.3.4). */
export const nameOf = ({ handle, domain }: Pick<LightningAddressText, "handle" | "domain">): string | undefined => {
  const name = `${handle}.user._bitcoin-payment.${domain}`
  return name.length <= 253 && name.split(".").every((label) => label.length > 0 && label.length <= 63) ? name : undefined
}

/** How long others may keep a record of ours, in seconds: an offer that is exchanged is the new one within the hour. */
export const ttlSeconds = 3600

/** A text as a zone file has it: strings of 255 bytes at most. */
const strings = (text: string) => (text.match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(" ")

/** The line of a zone file with which wallets find an offer by this name. */
export const zoneLine = (name: string, offer: string): string => `${name}. ${ttlSeconds} IN TXT ${strings(`bitcoin:?lno=${offer}`)}`

/**
 * The one `bitcoin:` URI among the records of a name; undefined where there is none. More than one, one that is not signed, and one that cannot be read
 * refuse the name: what is wrong may be an attacker's, and is no reason to ask somebody else. The reason completes "the recipient does not take the payment: …".
 */
export const uriOf = ({ texts, isSigned }: Validated): Result.Result<string | undefined, string> => {
  const [uri, ...others] = texts.filter(Bip21.isBip21)
  if (uri === undefined) return Result.succeed(undefined)
  if (others.length > 0) return Result.fail("its domain's DNS has more than one bitcoin: record for it (BIP 353)")
  if (!isSigned) return Result.fail("its domain's DNS has a bitcoin: record for it that is not signed (DNSSEC)")
  if (uri.length > Destination.maxLength || !/^[!-~]+$/.test(uri)) return Result.fail("the record in its domain's DNS is no bitcoin: URI")
  return Result.succeed(uri)
}

const known = ["Bolt12Offer", "LightningInvoice", "ChainAddress"] as const
type Way = Extract<Destination.Destination, { readonly _tag: (typeof known)[number] }>

const isWay = (destination: Destination.Destination, at: number): destination is Way => destination._tag === known[at]

/**
 * The ways to pay that a record's URI has and this service knows, the best first: the offer, the invoice, then the address. What is under another's name is none,
 * and an LNURL neither: a record says what is paid, and not whom to ask. The reason completes "the recipient does not take the payment: …".
 */
export const waysOf = (
  uri: string,
  amount: Msat.Msat,
  network: Network,
  able: Destination.Ways
): Result.Result<ReadonlyArray<Way>, string> =>
  Result.gen(function* () {
    const refused = ({ message }: { readonly message: string }) => `the record in its domain's DNS cannot be paid: ${message}`
    const { address, amount: wanted, lightning, offer } = yield* Result.mapError(Bip21.parse(uri, network), refused)
    if (wanted !== undefined && wanted !== amount)
      return yield* Result.fail(`the record in its domain's DNS is for ${Msat.toSats(wanted)} sats`)
    const read = [offer, lightning, address].map((text) => (text === undefined ? undefined : Destination.parse(text, network, able)))
    const ways = read.flatMap((way, at) => (way !== undefined && Result.isSuccess(way) && isWay(way.success, at) ? [way.success] : []))
    if (ways.length > 0) return ways
    const wrong = read.find((way) => way !== undefined && Result.isFailure(way))
    return yield* Result.fail(
      wrong !== undefined && Result.isFailure(wrong)
        ? refused(wrong.failure)
        : "the record in its domain's DNS has no way to pay that is known here"
    )
  })

/** The first way that this amount can be paid by now, on this rail where one is given; why the first cannot, if none can. */
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
            message: `The invoice in the record of the recipient's domain is for ${Msat.toSatsCeiling(invoice.amount)} sats`
          })
        )
      return Result.map(check({ _tag: "Invoice", bolt11: invoice }, amount, rules, nowMillis), () => way)
    })
  return (
    tried.find(Result.isSuccess) ??
    tried[0] ??
    Result.fail(new RecipientRefused({ reason: "the record in its domain's DNS has no way of this kind any more" }))
  )
}

const certain = Effect.mapError(
  (_: unknown) => new RecipientUnreachable({ reason: "its domain's DNS gave no answer that is certain (BIP 353)" })
)

/**
 * What the domain of a name says to pay for this amount; undefined where it is certain that it says nothing, and the name may be a Lightning address. One
 * that is written with ₿ may not: then that is refused too.
 */
export const make = Effect.gen(function* () {
  const { validated } = yield* Names
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
        message: `This service does not look up names in the DNS (BIP 353): ${address.address} may be a Lightning address`
      })
    const name = nameOf(address)
    const found = validated === undefined || name === undefined ? undefined : yield* certain(validated(name))
    const uri = found && (yield* refused(Effect.fromResult(uriOf(found))))
    if (uri === undefined && isInDns)
      return yield* new DestinationRefused({
        code: "recipient_not_found",
        message: `The domain ${address.domain} has no record (BIP 353) for ${address.handle}`
      })
    if (uri === undefined) return undefined
    const ways = yield* refused(Effect.fromResult(waysOf(uri, amount, network, yield* waysFor(uri))))
    return yield* Effect.fromResult(chosen(ways, amount, rail, rules, yield* Clock.currentTimeMillis))
  })
})
