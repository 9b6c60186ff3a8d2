import * as Seed from "@satrail/chain/Seed"
import { Redacted, Result } from "effect"
import path from "node:path"
import { dataDirectory } from "./Process.ts"
import { file, oneOf, type Reader, secret, type Variable } from "./Variable.ts"

/** A real chain: who tells about it, and the wallet on it. */
export interface ChainNode {
  readonly source:
    | {
        readonly _tag: "BitcoinRpc"
        readonly url: string
        readonly certificateFile: string | undefined
        readonly user: string
        readonly password: Redacted.Redacted
      }
    | { readonly _tag: "Esplora"; readonly url: string; readonly certificateFile: string | undefined }
  readonly walletFile: string
  readonly signer:
    | { readonly _tag: "Sealed"; readonly passphrase: Redacted.Redacted }
    | { readonly _tag: "Words"; readonly words: Redacted.Redacted }
    | { readonly _tag: "External"; readonly command: string; readonly args: ReadonlyArray<string> }
}

/** The source of blocks and the wallet. */
export interface Chain {
  readonly chain: "sandbox" | "bitcoin-rpc" | "esplora"
  /** What a real chain needs, where `chain` asks for one. */
  readonly chainNode: ChainNode | undefined
}

const httpUrl = {
  fallback: "",
  secret: true as const,
  wants: "an address such as http://127.0.0.1:8332, without a user in it",
  read: (text: string) => {
    const url = URL.parse(text)
    return /^https?:$/.test(url?.protocol ?? "") && url?.username === "" && url.password === "" ? text : undefined
  }
}

export const variables = {
  chain: {
    name: "CHAIN",
    meaning: "The source of blocks and the wallet; sandbox is a pretend one, for trying and testing",
    fallback: "sandbox",
    ...oneOf("sandbox", "bitcoin-rpc", "esplora")
  },
  bitcoinRpcUrl: {
    name: "BITCOIN_RPC_URL",
    meaning: "Where a bitcoin node takes RPC calls; needed with CHAIN=bitcoin-rpc",
    ...httpUrl
  },
  bitcoinRpcUser: {
    name: "BITCOIN_RPC_USER",
    meaning: "Who we are to it (rpcuser); needed with CHAIN=bitcoin-rpc",
    fallback: "",
    wants: "a name without a colon",
    read: (text) => (text.includes(":") ? undefined : text)
  } satisfies Variable<string>,
  bitcoinRpcPassword: {
    ...secret("BITCOIN_RPC_PASSWORD"),
    meaning: "And what proves it (rpcpassword); needed with CHAIN=bitcoin-rpc",
    wants: "a text"
  },
  esploraUrl: { name: "ESPLORA_URL", meaning: "Where an Esplora server has its API; needed with CHAIN=esplora", ...httpUrl },
  chainCertificate: {
    ...file,
    name: "CHAIN_TLS_CERT",
    meaning: "The certificate of either; without one it must be signed by a known authority"
  },
  chainWallet: {
    ...file,
    name: "CHAIN_WALLET",
    meaning: "The wallet's file, as `satrail wallet create` writes it; wallet.json in SATRAIL_DATA without one"
  },
  chainPassphrase: { ...secret("CHAIN_WALLET_PASSPHRASE"), meaning: "Opens the seed in the wallet's file", wants: "a text" },
  chainSeed: {
    ...secret("CHAIN_SEED"),
    meaning: "The seed words themselves, in place of the passphrase",
    wants: "12 to 24 words (BIP 39)",
    read: (text: string) => Result.getOrUndefined(Seed.parse(text))
  },
  chainSigner: {
    name: "CHAIN_SIGNER",
    meaning: "A program that signs, in place of both: a PSBT in base64 on its standard input, the signed one on its standard output",
    fallback: "",
    wants: "a program and its arguments, separated by spaces",
    read: (text) => {
      const [command, ...args] = text.trim().split(/\s+/)
      return command === undefined || command === "" ? undefined : { command, args }
    }
  } satisfies Variable<{ readonly command: string; readonly args: ReadonlyArray<string> }>
}

const signer = ({ optional, problem }: Reader): ChainNode["signer"] => {
  const [passphrase, words, external] = [
    optional(variables.chainPassphrase),
    optional(variables.chainSeed),
    optional(variables.chainSigner)
  ]
  const given = [passphrase, words, external].filter((one) => one !== undefined)
  if (given.length !== 1) problem("One of CHAIN_WALLET_PASSPHRASE, CHAIN_SEED and CHAIN_SIGNER is needed, and not more: who signs?")
  if (words !== undefined) return { _tag: "Words", words }
  if (external !== undefined) return { _tag: "External", ...external }
  return { _tag: "Sealed", passphrase: passphrase ?? Redacted.make("") }
}

export const read = (reader: Reader): Chain => {
  const { optional, required, neededFor } = reader
  const chain = required(variables.chain)
  if (chain !== "bitcoin-rpc" && chain !== "esplora") return { chain, chainNode: undefined }
  const certificateFile = optional(variables.chainCertificate)
  const needed = <A>(variable: Variable<A>) => neededFor(true, `CHAIN=${chain}`, variable)
  const chainNode: ChainNode = {
    source:
      chain === "esplora"
        ? { _tag: "Esplora", url: needed(variables.esploraUrl), certificateFile }
        : {
            _tag: "BitcoinRpc",
            url: needed(variables.bitcoinRpcUrl),
            certificateFile,
            user: needed(variables.bitcoinRpcUser),
            password: needed(variables.bitcoinRpcPassword)
          },
    walletFile: optional(variables.chainWallet) ?? path.join(required(dataDirectory), "wallet.json"),
    signer: signer(reader)
  }
  return { chain, chainNode }
}
