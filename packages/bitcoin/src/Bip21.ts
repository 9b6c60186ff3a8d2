import { Result, Schema } from "effect"
import * as Msat from "./Msat.ts"
import { type Network, parameters as networks } from "./Network.ts"

/**
 * The contents of a `bitcoin:` URI (BIP 21, BIP 321). Only its amount has been validated. The lists hold
 * alternatives for one payment, in the order of the URI.
 */
export interface Bip21 {
  /** Bitcoin addresses. Empty if the URI has only other ways to pay. */
  readonly addresses: ReadonlyArray<string>
  readonly amount?: Msat.Msat
  readonly label?: string
  readonly message?: string
  /** BOLT 11 invoices and LNURLs. */
  readonly lightning: ReadonlyArray<string>
  /** BOLT 12 offers. */
  readonly offers: ReadonlyArray<string>
}

/** The URI cannot be used. */
export class Bip21Invalid extends Schema.TaggedError<Bip21Invalid>()("Bip21Invalid", {
  reason: Schema.Literals(["malformed", "amount", "duplicate", "required", "nothing_to_pay"]),
  message: Schema.String
}) {}

const refuse = (reason: Bip21Invalid["reason"], message: string) =>
  Result.fail(new Bip21Invalid({ reason, message }))

const msatPerBtc = 100_000_000_000n

/**
 * Parses an amount in decimal BTC. Unlike JSON's number syntax, it allows `050.00` and `.5`, and rejects `1e3`.
 */
export const parseAmount = (text: string): Result.Result<Msat.Msat, Bip21Invalid> => {
  const refused = (why: string) => refuse("amount", `The amount in the bitcoin: URI must ${why}`)
  const [, whole, fraction = ""] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined || !/\d/.test(text)) return refused("be a decimal number of bitcoin")
  if (/[1-9]/.test(fraction.slice(8)))
    return refused("be a whole number of satoshis: it has more than 8 decimals")
  const bitcoin = whole.replace(/^0+/, "")
  const sats = BigInt(fraction.slice(0, 8).padEnd(8, "0"))
  // No valid amount has more digits, so longer text is not converted to a number.
  const amount = bitcoin.length > 8 ? undefined : BigInt(bitcoin) * msatPerBtc + Msat.fromSats(sats)
  if (amount === undefined || amount > Msat.max)
    return refused(`be at most ${Msat.toSats(Msat.max)} sats, the total supply of bitcoin`)
  return amount === 0n ? refused("be more than 0") : Result.succeed(Msat.make(amount))
}

const decodeText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Parameters that describe the payment as a whole. Other parameters may repeat (BIP 321). */
const once: ReadonlySet<string> = new Set(["amount", "label", "message"])

/** Parses `name=value&…` into decoded pairs, with the names in lower case. A plus sign stays a plus sign. */
export const pairs = (
  query: string
): Result.Result<ReadonlyArray<readonly [name: string, value: string]>, Bip21Invalid> =>
  Result.all(
    query.split("&").flatMap((parameter) => {
      if (parameter === "") return []
      const equals = parameter.indexOf("=")
      const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase()
      const value = decodeText(equals < 0 ? "" : parameter.slice(equals + 1))
      return [
        value === undefined
          ? refuse("malformed", `"${name}" must be percent-encoded UTF-8`)
          : Result.succeed([name, value] as const)
      ]
    })
  )

/** Returns whether a string is a `bitcoin:` URI, valid or not. */
export const isBip21 = (text: string): boolean => /^bitcoin:/i.test(text)

/**
 * Parses a `bitcoin:` URI, or `bitcoin://` as some wallets write it. The scheme and parameter names may be in upper
 * case, as in QR codes. A fragment is ignored, unless it contains parameters. Payment methods may repeat; a second `amount`, `label` or `message`, or an unknown parameter
 * that begins with `req-`, makes the URI invalid. If a network is given, addresses may be in parameters named after
 * the network's address prefix (BIP 321: `bitcoin:?bc=bc1q…`).
 */
export const parse = (text: string, network?: Network): Result.Result<Bip21, Bip21Invalid> =>
  Result.gen(function* () {
    const [, slashes, path = "", query = "", fragment = ""] =
      /^bitcoin:(\/\/)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text) ?? []
    // It may be part of a label, and then parameters such as the amount follow it.
    if (fragment.includes("="))
      return yield* refuse("malformed", "A # inside the bitcoin: URI must be written as %23")
    const body = decodeText(slashes === undefined ? path : path.replace(/\/$/, ""))
    if (body === undefined)
      return yield* refuse("malformed", "The address in the bitcoin: URI must be percent-encoded UTF-8")
    const parameters = yield* pairs(query)
    const valuesOf = (wanted: string | undefined) =>
      parameters.flatMap(([name, value]) => (name === wanted && value !== "" ? [value] : []))
    for (const [at, [name]] of parameters.entries()) {
      if (once.has(name) && parameters.findIndex(([other]) => other === name) !== at)
        return yield* refuse("duplicate", `The bitcoin: URI contains "${name}" twice`)
      if (name.startsWith("req-"))
        return yield* refuse(
          "required",
          `The bitcoin: URI requires "${name}", which this service does not support`
        )
    }
    const valueOf = (wanted: string) => parameters.find(([name]) => name === wanted)?.[1]
    const [written, label, message] = [valueOf("amount"), valueOf("label"), valueOf("message")]
    const amount = written === undefined ? undefined : yield* parseAmount(written)
    const addresses = [...(body === "" ? [] : [body]), ...valuesOf(network && networks[network].bech32Prefix)]
    const [lightning, offers] = [valuesOf("lightning"), valuesOf("lno")]
    if (addresses.length + lightning.length + offers.length === 0)
      return yield* refuse(
        "nothing_to_pay",
        "The bitcoin: URI must contain an address, a Lightning invoice or an offer"
      )
    return {
      addresses,
      ...(amount !== undefined && { amount }),
      ...(label !== undefined && { label }),
      ...(message !== undefined && { message }),
      lightning,
      offers
    }
  })
