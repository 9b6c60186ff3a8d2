import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { curve } from "@satrail/bitcoin/Curve"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { Network } from "@satrail/bitcoin/Network"
import type * as TxId from "@satrail/bitcoin/TxId"
import type * as Coin from "@satrail/core/nodes/Coin"
import * as Payout from "@satrail/core/sending/Payout"
import { hex } from "@scure/base"
import { HDKey } from "@scure/bip32"
import type { Transaction } from "@scure/btc-signer/transaction.js"

/** A wallet key, and the address that pays to it. */
export interface WalletKey extends Payout.Key {
  readonly address: BitcoinAddress.BitcoinAddress
}

/** A wallet with BIP 86, 84 and 49 accounts below one master key. */
export interface Wallet {
  /** 4 bytes in hex. */
  readonly fingerprint: string
  readonly key: (place: Coin.Place) => WalletKey
  /** The wallet's public keys, for payouts. */
  readonly keys: Payout.Keys
  /** Signs every input and serializes the transaction. Throws if any input isn't the wallet's. */
  readonly sign: (tx: Transaction) => { readonly txId: TxId.TxId; readonly rawTx: string }
}

/** Every secret of the sandbox, derived from the seed. */
export interface Keys {
  /** Derives 32 bytes for `label`. */
  readonly secret: (label: string) => Uint8Array
  /** The key of a Lightning node, by its name in the graph. */
  readonly node: (name: string) => { readonly privateKey: Uint8Array; readonly publicKey: string }
  /** The operator's wallet. */
  readonly wallet: Wallet
  /** The external wallet, which belongs to everyone else. */
  readonly outside: Wallet
}

const hardened = 0x80000000
const purposes: { readonly [type in BitcoinAddress.AddressType]: number } = {
  taproot: 86,
  segwit: 84,
  nested_segwit: 49
}

const memo = <K, V>(make: (key: K) => V): ((key: K) => V) => {
  const made = new Map<K, V>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

const lazily = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const step = (child: number) => (child >= hardened ? `${child - hardened}'` : String(child))

/** Only wiped keys lack a private key, and these keys are never wiped. */
const present = (key: Uint8Array | null): Uint8Array => {
  if (key === null) throw new Error("A derived key without bytes")
  return key
}

const makeWallet = (seed: Uint8Array, network: Network): Wallet => {
  // Most starts need no key, and the first key takes a tenth of a second.
  const master = lazily(() => HDKey.fromMasterSeed(seed))
  const accountPath = (type: BitcoinAddress.AddressType) => [
    purposes[type] + hardened,
    (network === "mainnet" ? 0 : 1) + hardened,
    hardened
  ]
  // All keys of a branch have the same parent, and each derivation takes milliseconds.
  const parents = memo((path: string) => master().derive(path))
  const derive = (path: ReadonlyArray<number>) =>
    path
      .slice(-1)
      .reduce(
        (parent, child) => parent.deriveChild(child),
        parents(["m", ...path.slice(0, -1).map(step)].join("/"))
      )
  const key = ({ type, branch, index }: Coin.Place): WalletKey => {
    const path = [...accountPath(type), branch, index]
    const publicKey = present(derive(path).publicKey)
    return { publicKey, path, address: BitcoinAddress.fromPublicKey(publicKey, type, network) }
  }
  return {
    get fingerprint() {
      return master().fingerprint.toString(16).padStart(8, "0")
    },
    key,
    keys: {
      get fingerprint() {
        return master().fingerprint
      },
      key
    },
    sign: (tx) => {
      for (let at = 0; at < tx.inputsLength; at++) {
        Payout.signInput(tx, at, master().fingerprint, (path) => present(derive(path).privateKey))
      }
      return Payout.finished(tx)
    }
  }
}

/** The curve's base point. */
const generator = hex.decode("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")

/** The same seed and network give the same keys. */
export const make = (seed: string, network: Network): Keys => {
  const root = sha256(utf8ToBytes(`sandbox/${network}/${seed}`))
  // Preparing the key takes as long as signing a label with it.
  const keyed = hmac.create(sha256, root)
  const secret = (label: string) => keyed.clone().update(utf8ToBytes(label)).digest()
  return {
    secret,
    node: memo((name: string) => {
      const privateKey = secret(`node/${name}`)
      return { privateKey, publicKey: hex.encode(curve.multiply(generator, privateKey)) }
    }),
    wallet: makeWallet(secret("wallet"), network),
    outside: makeWallet(secret("outside"), network)
  }
}
