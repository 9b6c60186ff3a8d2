import { Result, Schema } from "effect"
import * as Msat from "./Msat.ts"
import { type Network, parameters as networks } from "./Network.ts"

/** The contents of a `bitcoin:` URI (BIP 21, BIP 321). Only its amount has been validated. */
export interface Bip21 {
  /** Absent if the URI has only other ways to pay. */
  readonly address?: string
  readonly amount?: Msat.Msat
  readonly label?: string
  readonly message?: string
  /** A BOLT 11 invoice or an LNURL for the same payment. */
  readonly lightning?: string
  /** A BOLT 12 offer for the same payment. */
  readonly offer?: string
}

/** The URI cannot be used. */
export class Bip21Invalid extends Schema.TaggedError<Bip21Invalid>()("Bip21Invalid", {
  reason: Schema.Literals(["malformed", "amount", "duplicate", "required", "nothing_to_pay"]),
  message: Schema.String
}) {}

const refuse = (reason: Bip21Invalid["reason"], message: string) => Result.fail(new Bip21Invalid({ reason, message }))

const msatPerBtc = 100_000_000_000n

/**
 * Parses an amount in decimal BTC. Unlike JSON's number syntax, it allows `050.00` and `.5`, and rejects `1e3`.
 */
const parseAmount = (text: string): Result.Result<Msat.Msat, Bip21Invalid> => {
  const refused = (why: string) => refuse("amount", `The amount in the bitcoin: URI must ${why}`)
  const [, whole, fraction = ""] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined || !/\d/.test(text)) return refused("be a decimal number of bitcoin")
  if (/[1-9]/.test(fraction.slice(8))) return refused("be a whole number of satoshis: it has more than 8 decimals")
  const bitcoin = whole.replace(/^0+/, "")
  const sats = BigInt(fraction.slice(0, 8).padEnd(8, "0"))
  // No valid amount has more digits, so longer text is not converted to a number.
  const amount = bitcoin.length > 8 ? undefined : BigInt(bitcoin) * msatPerBtc + Msat.fromSats(sats)
  if (amount === undefined || amount > Msat.max) return refused(`be at most ${Msat.toSats(Msat.max)} sats, the total supply of bitcoin`)
  return amount === 0n ? refused("be more than 0") : Result.succeed(Msat.make(amount))
}

const decodeText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Returns whether a string is a `bitcoin:` URI, valid or not. */
export const isBip21 = (text: string): boolean => /^bitcoin:/i.test(text)

/**
 * Parses a `bitcoin:` URI. The scheme and parameter names may be in upper case, as in QR codes. A duplicate
 * parameter, or an unknown one that begins with `req-`, makes the URI invalid. If a network is given, the
 * address may be in a parameter named after the network's address prefix (BIP 321: `bitcoin:?bc=bc1q…`).
 */
export const parse = (text: string, network?: Network): Result.Result<Bip21, Bip21Invalid> =>
  Result.gen(function* () {
    const [, body = "", query = ""] = /^bitcoin:([^?#]*)(?:\?([^#]*))?$/i.exec(text) ?? []
    const parameters = new Map<string, string>()
    for (const parameter of query.split("&")) {
      if (parameter === "") continue
      const equals = parameter.indexOf("=")
      const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase()
      const value = decodeText(equals < 0 ? "" : parameter.slice(equals + 1))
      if (value === undefined) return yield* refuse("malformed", `"${name}" in the bitcoin: URI must be percent-encoded UTF-8`)
      if (parameters.has(name)) return yield* refuse("duplicate", `The bitcoin: URI contains "${name}" twice`)
      if (name.startsWith("req-"))
        return yield* refuse("required", `The bitcoin: URI requires "${name}", which this service does not support`)
      parameters.set(name, value)
    }
    const written = parameters.get("amount")
    const amount = written === undefined ? undefined : yield* parseAmount(written)
    const lightning = parameters.get("lightning") || undefined
    const address = body || (network && parameters.get(networks[network].bech32Prefix)) || ""
    const offer = parameters.get("lno") || undefined
    const label = parameters.get("label")
    const message = parameters.get("message")
    if (address === "" && lightning === undefined && offer === undefined) {
      return yield* refuse("nothing_to_pay", "The bitcoin: URI must contain an address, a Lightning invoice or an offer")
    }
    return {
      ...(address !== "" && { address }),
      ...(amount !== undefined && { amount }),
      ...(label !== undefined && { label }),
      ...(message !== undefined && { message }),
      ...(lightning !== undefined && { lightning }),
      ...(offer !== undefined && { offer })
    }
  })
