import { sha256 } from "@noble/hashes/sha2.js"
import { bech32, bech32m, createBase58check, hex } from "@scure/base"
import { p2sh, p2tr, p2wpkh } from "@scure/btc-signer/payment.js"
import { Result, Schema } from "effect"
import * as Network from "./Network.ts"

/** The supported kinds of output. */
export const Kind = Schema.Literals(["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"])
export type Kind = typeof Kind.Type

/** Address types that a customer may request: P2TR (BIP 86), P2WPKH (BIP 84), P2SH-P2WPKH (BIP 49). */
export const AddressType = Schema.Literals(["taproot", "segwit", "nested_segwit"])
export type AddressType = typeof AddressType.Type

/** An address on one network, with its output script in hex. Bech32 addresses are in lower case. */
export const BitcoinAddress = Schema.Struct({
  address: Schema.String,
  network: Network.Network,
  kind: Kind,
  scriptPubKey: Schema.String
})
export interface BitcoinAddress extends Schema.Schema.Type<typeof BitcoinAddress> {}

/**
 * The text is not an address that can be paid on this network. `networks` lists the networks that the address
 * belongs to, if known.
 */
export class BitcoinAddressInvalid extends Schema.TaggedError<BitcoinAddressInvalid>()(
  "BitcoinAddressInvalid",
  {
    reason: Schema.Literals([
      "malformed",
      "checksum",
      "unknown_prefix",
      "wrong_network",
      "program_length",
      "unknown_witness_version",
      "pay_to_anchor",
      "unknown_script"
    ]),
    message: Schema.String,
    networks: Schema.Array(Network.Network)
  }
) {}

/**
 * Minimum output in sats. Smaller ones are not relayed at the default dust rate of 3 sat/vB (Bitcoin Core's
 * GetDustThreshold).
 */
export const dustLimitSats = (kind: Kind): bigint => dust[kind]
const dust: { readonly [kind in Kind]: bigint } = {
  p2pkh: 546n,
  p2sh: 540n,
  p2wpkh: 294n,
  p2wsh: 330n,
  p2tr: 330n
}

/** Maximum length of an address (BIP 173). */
const maxBech32Length = 90

/** The script `OP_1 <4e73>` (BIP 433), which anyone can spend. */
const anchor = "4e73"

const base58check = createBase58check(sha256)

const refuse = (
  reason: BitcoinAddressInvalid["reason"],
  message: string,
  networks: ReadonlyArray<Network.Network> = []
) => Result.fail(new BitcoinAddressInvalid({ reason, message, networks }))

const attempt = <A>(f: () => A): A | undefined => {
  try {
    return f()
  } catch {
    return undefined
  }
}

/** For each kind of script: the length of its hash or key, and the script bytes before and after it. */
const frame: {
  readonly [kind in Kind]: { readonly bytes: number; readonly head: string; readonly tail: string }
} = {
  p2pkh: { bytes: 20, head: "76a914", tail: "88ac" },
  p2sh: { bytes: 20, head: "a914", tail: "87" },
  p2wpkh: { bytes: 20, head: "0014", tail: "" },
  p2wsh: { bytes: 32, head: "0020", tail: "" },
  p2tr: { bytes: 32, head: "5120", tail: "" }
}

const versions: { readonly [kind in "p2wpkh" | "p2wsh" | "p2tr"]: number } = { p2wpkh: 0, p2wsh: 0, p2tr: 1 }

const make = (kind: Kind, payload: Uint8Array, network: Network.Network): BitcoinAddress => {
  const { head, tail } = frame[kind]
  const { bech32Prefix, p2pkhVersion, p2shVersion } = Network.parameters[network]
  const address =
    kind === "p2pkh" || kind === "p2sh"
      ? base58check.encode(Uint8Array.of(kind === "p2pkh" ? p2pkhVersion : p2shVersion, ...payload))
      : (kind === "p2tr" ? bech32m : bech32).encode(bech32Prefix, [
          versions[kind],
          ...bech32.toWords(payload)
        ])
  return { address, network, kind, scriptPubKey: head + hex.encode(payload) + tail }
}

const elsewhere = (is: (parameters: Network.Parameters) => boolean, network: Network.Network) => {
  const networks = Network.all.filter((one) => is(Network.parameters[one]))
  return refuse(
    "wrong_network",
    `This is a ${networks.join(" or ")} address, but this service runs on ${network}`,
    networks
  )
}

const decodeSegwit = (
  text: string,
  network: Network.Network
): Result.Result<BitcoinAddress, BitcoinAddressInvalid> => {
  const plain = bech32.decodeUnsafe(text, maxBech32Length)
  const decoded = plain ?? bech32m.decodeUnsafe(text, maxBech32Length)
  if (!decoded) return refuse("checksum", "The address's checksum is wrong. Check for a typo")
  const [version, ...words] = decoded.words
  const program = bech32.fromWordsUnsafe(words)
  if (version === undefined || version > 16 || !program)
    return refuse("malformed", "The address does not contain a witness program")
  // Version 0 uses bech32, and every other version uses bech32m (BIP 350). The wrong one can miss typing
  // errors.
  if ((version === 0) !== (plain !== undefined))
    return refuse("checksum", "The address uses the wrong bech32 checksum for its version")
  if (
    program.length < 2 ||
    program.length > 40 ||
    (version === 0 && program.length !== 20 && program.length !== 32)
  ) {
    return refuse("program_length", "The address's witness program has an invalid length")
  }
  const is = (parameters: Network.Parameters) => parameters.bech32Prefix === decoded.prefix
  if (!is(Network.parameters[network])) return elsewhere(is, network)
  if (version === 0) return Result.succeed(make(program.length === 20 ? "p2wpkh" : "p2wsh", program, network))
  if (version === 1 && program.length === 32) return Result.succeed(make("p2tr", program, network))
  return version === 1 && hex.encode(program) === anchor
    ? refuse("pay_to_anchor", "Anyone can spend a pay-to-anchor output. Use a different address")
    : refuse(
        "unknown_witness_version",
        `Outputs of witness version ${version} with ${program.length} bytes are not spendable yet`
      )
}

const decodeBase58 = (
  text: string,
  network: Network.Network
): Result.Result<BitcoinAddress, BitcoinAddressInvalid> => {
  const bytes = attempt(() => base58check.decode(text))
  if (bytes === undefined) return refuse("checksum", "The address's checksum is wrong. Check for a typo")
  const [version] = bytes
  const is = (parameters: Network.Parameters) =>
    version === parameters.p2pkhVersion || version === parameters.p2shVersion
  if (bytes.length !== 21 || !Network.all.some((one) => is(Network.parameters[one])))
    return refuse("unknown_prefix", "Not a valid bitcoin address")
  if (!is(Network.parameters[network])) return elsewhere(is, network)
  return Result.succeed(
    make(version === Network.parameters[network].p2pkhVersion ? "p2pkh" : "p2sh", bytes.slice(1), network)
  )
}

const hasBech32Form = /^(?:[a-z]{2,12}1[02-9ac-hj-np-z]{6,}|[A-Z]{2,12}1[02-9AC-HJ-NP-Z]{6,})$/
const hasSegwitPrefix = /^(?:bc|tb|bcrt)1/i

/** Decodes an address on `network`: base58 (P2PKH, P2SH), BIP 173 and BIP 350 up to witness version 1. */
export const decode = (
  text: string,
  network: Network.Network
): Result.Result<BitcoinAddress, BitcoinAddressInvalid> => {
  if (text.length > maxBech32Length)
    return refuse("malformed", `An address must have at most ${maxBech32Length} characters`)
  if (hasSegwitPrefix.test(text)) {
    return hasBech32Form.test(text)
      ? decodeSegwit(text, network)
      : refuse("malformed", "The address contains an invalid character, or mixes upper and lower case")
  }
  if (/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return decodeBase58(text, network)
  return hasBech32Form.test(text)
    ? refuse("unknown_prefix", "Not a valid bitcoin address")
    : refuse("malformed", "The address contains an invalid character")
}

/** Returns the address of `kind` that pays to a hash or key; undefined if its length doesn't fit the kind. */
export const fromPayload = (
  kind: Kind,
  payload: Uint8Array,
  network: Network.Network
): BitcoinAddress | undefined =>
  payload.length === frame[kind].bytes ? make(kind, payload, network) : undefined

/** Returns the hash or key in an address. */
export const payload = ({ kind, scriptPubKey }: BitcoinAddress): Uint8Array => {
  const { head, bytes } = frame[kind]
  return hex.decode(scriptPubKey.slice(head.length, head.length + bytes * 2))
}

/** Returns the kind of an output script in hex; undefined if it has no address. */
export const kindOf = (scriptPubKey: string): Kind | undefined => {
  const text = scriptPubKey.toLowerCase()
  return Kind.literals.find((one) => {
    const { head, bytes, tail } = frame[one]
    return (
      text.length === head.length + bytes * 2 + tail.length &&
      text.startsWith(head) &&
      text.endsWith(tail) &&
      /^[0-9a-f]+$/.test(text)
    )
  })
}

/** Returns the address of an output script in hex. */
export const fromScript = (
  scriptPubKey: string,
  network: Network.Network
): Result.Result<BitcoinAddress, BitcoinAddressInvalid> => {
  const text = scriptPubKey.toLowerCase()
  const kind = kindOf(text)
  return kind === undefined
    ? refuse("unknown_script", "This script has no address")
    : Result.succeed(
        make(
          kind,
          hex.decode(text.slice(frame[kind].head.length, frame[kind].head.length + frame[kind].bytes * 2)),
          network
        )
      )
}

const script = {
  taproot: (publicKey: Uint8Array) => p2tr(publicKey.slice(1)).script,
  segwit: (publicKey: Uint8Array) => p2wpkh(publicKey).script,
  nested_segwit: (publicKey: Uint8Array) => p2sh(p2wpkh(publicKey)).script
}

/**
 * Returns the address of a 33-byte public key. Throws on an invalid key: keys come from our own derivation, so
 * an invalid one is a bug.
 */
export const fromPublicKey = (
  publicKey: Uint8Array,
  type: AddressType,
  network: Network.Network
): BitcoinAddress => Result.getOrThrow(fromScript(hex.encode(script[type](publicKey)), network))
