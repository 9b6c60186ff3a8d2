import { Result, Schema } from "effect"
import * as Msat from "./Msat.ts"
import { type Network, parameters as networks } from "./Network.ts"

/** What a `bitcoin:` URI says (BIP 21, BIP 321). Nothing in it is checked yet but its amount. */
export interface Bip21 {
  /** Absent where the URI has only other ways to pay. */
  readonly address?: string
  readonly amount?: Msat.Msat
  readonly label?: string
  readonly message?: string
  /** A BOLT 11 invoice for the same payment, or an LNURL. */
  readonly lightning?: string
  /** A BOLT 12 offer for the same payment. */
  readonly offer?: string
}

/** The URI cannot be acted upon. */
export class Bip21Invalid extends Schema.TaggedError<Bip21Invalid>()("Bip21Invalid", {
  reason: Schema.Literals(["malformed", "amount", "duplicate", "required", "nothing_to_pay"]),
  message: Schema.String
}) {}

const refuse = (reason: Bip21Invalid["reason"], message: string) => Result.fail(new Bip21Invalid({ reason, message }))

const msatPerBtc = 100_000_000_000n

/** The amount in decimal BTC. Not one of JSON's numbers: `050.00` and `.5` are amounts here, `1e3` is none. */
const parseAmount = (text: string): Result.Result<Msat.Msat, Bip21Invalid> => {
  const refused = (why: string) => refuse("amount", `The amount in the bitcoin: URI must ${why}`)
  const [, whole, fraction = ""] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined || !/\d/.test(text)) return refused("be a decimal number of bitcoin")
  if (/[1-9]/.test(fraction.slice(8))) return refused("be a whole number of satoshis: it has more than 8 decimals")
  const bitcoin = whole.replace(/^0+/, "")
  const sats = BigInt(fraction.slice(0, 8).padEnd(8, "0"))
  // No amount that can be has more digits: what is longer is not computed with.
  const amount = bitcoin.length > 8 ? undefined : BigInt(bitcoin) * msatPerBtc + Msat.fromSats(sats)
  if (amount === undefined || amount > Msat.max) return refused(`be at most ${Msat.toSats(Msat.max)} sats, all bitcoin there can be`)
  return amount === 0n ? refused("be more than 0") : Result.succeed(Msat.make(amount))
}

const decodeText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Whether a text is a `bitcoin:` URI, good or bad. */
export const isBip21 = (text: string): boolean => /^bitcoin:/i.test(text)

/**
 * Reads a `bitcoin:` URI. The scheme and the names of parameters may be in upper case, as in QR codes. A parameter that is named
 * twice, or that begins with `req-` and is not known here, refuses the whole URI. Where a network is given, its address may be in
 * a parameter named as its addresses begin (BIP 321: `bitcoin:?bc=bc1q…`).
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
      if (value === undefined) return yield* refuse("malformed", `The bitcoin: URI's "${name}" is not percent-encoded UTF-8`)
      if (parameters.has(name)) return yield* refuse("duplicate", `The bitcoin: URI names "${name}" twice`)
      if (name.startsWith("req-")) return yield* refuse("required", `The bitcoin: URI demands "${name}", which is not known here`)
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
      return yield* refuse("nothing_to_pay", "The bitcoin: URI has neither an address nor a Lightning invoice nor an offer")
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
