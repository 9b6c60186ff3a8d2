import * as Bip21 from "@satrail/bitcoin/Bip21"
import type { LightningAddressText } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Array as Arr, Effect, Result } from "effect"
import { Installation } from "../accounts/Installation.ts"
import { Dns, type Validated } from "../base/Dns.ts"
import type { Rail } from "../ledger/Rail.ts"
import { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import { type Amount, DestinationRefused } from "./Recipient.ts"

/**
 * Returns the DNS name with a user's payment instructions (BIP 353), or undefined if no such name is possible
 * (RFC 1035, section 2.3.4).
 */
export const nameOf = ({
  handle,
  domain
}: Pick<LightningAddressText, "handle" | "domain">): string | undefined => {
  const name = `${handle}.user._bitcoin-payment.${domain}`
  return name.length <= 253 && name.split(".").every((label) => label.length > 0 && label.length <= 63)
    ? name
    : undefined
}

/** Time to live of our DNS records, in seconds. A replaced offer is visible within the hour. */
export const ttlSeconds = 3600

/** Formats a string for a zone file, as strings of at most 255 bytes. */
const strings = (text: string) => (text.match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(" ")

/** Returns the zone file line that publishes an offer under this name. */
export const zoneLine = (name: string, offer: string): string =>
  `${name}. ${ttlSeconds} IN TXT ${strings(`bitcoin:?lno=${offer}`)}`

/**
 * Returns the only `bitcoin:` URI among a name's records, or undefined if there is none. Rejects the name if
 * there are several URIs, or if the record is unsigned or unreadable. Such a record may come from an attacker,
 * so there is no fallback to a Lightning address. The failure's text completes "The payee declined the payment:
 * …".
 */
export const uriOf = ({ texts, isSigned }: Validated): Result.Result<string | undefined, string> => {
  const [uri, ...others] = texts.filter(Bip21.isBip21)
  if (uri === undefined) return Result.succeed(undefined)
  if (others.length > 0)
    return Result.fail("its domain's DNS has more than one bitcoin: record for it (BIP 353)")
  if (!isSigned)
    return Result.fail("its domain's DNS has a bitcoin: record for it that is not signed (DNSSEC)")
  if (uri.length > Destination.maxLength || !/^[!-~]+$/.test(uri))
    return Result.fail("its domain's DNS record is not a valid bitcoin: URI")
  return Result.succeed(uri)
}

/**
 * Returns the payment methods of a record's URI, best first, as if a person had pasted it. Ignores an LNURL, because a
 * record must state what to pay, not where to request it. The failure's text completes "The payee declined the payment: …".
 */
export const methodsOf = (
  uri: string,
  amount: Amount,
  network: Network
): Result.Result<Destination.Methods, string> =>
  Result.gen(function* () {
    const refused = ({ message }: { readonly message: string }) =>
      `its domain's DNS record cannot be paid: ${message}`
    const { amount: wanted } = yield* Result.mapError(Bip21.parse(uri, network), refused)
    if (wanted !== undefined && wanted !== amount)
      return yield* Result.fail(`its domain's DNS record is for ${Msat.inSats(Msat.toSats(wanted))}`)
    const methods = (yield* Result.mapError(Destination.uriMethods(uri, network), refused)).filter(
      ({ _tag }) => _tag !== "Lnurl"
    )
    return Arr.isArrayNonEmpty(methods)
      ? methods
      : yield* Result.fail("its domain's DNS record has no payment method that this service supports")
  })

const railOf = ({ _tag }: Destination.Destination): Rail =>
  _tag === "ChainAddress" ? "on_chain" : "lightning"

const certain = Effect.mapError(
  (_: unknown) =>
    new RecipientUnreachable({ reason: "its domain's DNS gave no conclusive response (BIP 353)" })
)

/**
 * Resolves the payment methods that a name's domain publishes for this amount and, if a rail is given, on this rail.
 * Undefined if the domain certainly
 * has no record, so the name may be a Lightning address. In that case, a name written with ₿ fails, because it
 * cannot be a Lightning address.
 */
export const make = Effect.gen(function* () {
  const { validated } = yield* Dns
  const { network } = yield* Installation

  const refused = Effect.mapError((reason: string) => new RecipientRefused({ reason }))

  return Effect.fnUntraced(function* (
    { address, isInDns }: Destination.LightningAddress,
    amount: Amount,
    rail: Rail | undefined
  ): Effect.fn.Return<
    Destination.Methods | undefined,
    DestinationRefused | RecipientRefused | RecipientUnreachable
  > {
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
    const methods = (yield* refused(Effect.fromResult(methodsOf(uri, amount, network)))).filter(
      (method) => rail === undefined || rail === railOf(method)
    )
    return Arr.isArrayNonEmpty(methods)
      ? methods
      : yield* new RecipientRefused({
          reason: "its domain's DNS record no longer has a payment method for this rail"
        })
  })
})
