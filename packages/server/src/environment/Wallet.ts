import * as ExternalSigner from "@satrail/chain/ExternalSigner"
import * as Seed from "@satrail/chain/Seed"
import * as Broadcasts from "@satrail/core/sending/Broadcasts"
import { Config, type Redacted, Result } from "effect"
import path from "node:path"
import { dataDirectory } from "./Process.ts"
import * as Setting from "./Setting.ts"

/** How the wallet's transactions are signed. */
export type Signer =
  | { readonly _tag: "Sealed"; readonly passphrase: Redacted.Redacted }
  | { readonly _tag: "Words"; readonly words: Redacted.Redacted }
  | {
      readonly _tag: "External"
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly patienceMillis: number
    }

/** The wallet on a real chain. */
export interface Wallet {
  readonly walletFile: string
  readonly signer: Signer
}

export const settings = {
  file: Setting.optional({
    name: "CHAIN_WALLET",
    meaning: "The wallet file written by `satrail wallet create`. Default: wallet.json in SATRAIL_DATA",
    ...Setting.file
  }),
  passphrase: Setting.optional({
    name: "CHAIN_WALLET_PASSPHRASE",
    meaning: "Decrypts the seed in the wallet file",
    ...Setting.secret("a string")
  }),
  words: Setting.optional({
    name: "CHAIN_SEED",
    meaning: "The seed words, as an alternative to the passphrase",
    wants: "12 to 24 words (BIP 39)",
    isSecret: true,
    read: (text) => Result.getOrUndefined(Seed.parse(text))
  }),
  external: Setting.optional({
    name: "CHAIN_SIGNER",
    meaning:
      "A program that signs, as an alternative to a seed or passphrase. It reads a base64 PSBT from standard input and writes the signed PSBT to standard output",
    wants: "a program and its arguments, separated by spaces",
    read: (text) => {
      const [command, ...args] = text.trim().split(/\s+/)
      return command === undefined || command === "" ? undefined : { command, args }
    }
  }),
  externalSeconds: Setting.withDefault({
    name: "CHAIN_SIGNER_SECONDS",
    meaning: "Time limit of that program. Increase it if a person must confirm",
    fallback: String(ExternalSigner.signMillis / 1000),
    ...Setting.whole(1, Broadcasts.signMillis / 1000)
  })
}

/** The path of the wallet file. It is set even if the chain is simulated. */
export const file = Config.map(
  Setting.all({ file: settings.file, dataDirectory }),
  ({ file, dataDirectory }) => file ?? path.join(dataDirectory, "wallet.json")
)

const { passphrase, words, external, externalSeconds } = settings
const choices = { passphrase, words, external, externalSeconds }

const signer = Config.flatMap(
  Setting.all(choices),
  ({ passphrase, words, external, externalSeconds }): Config.Config<Signer> => {
    const given: ReadonlyArray<Signer> = [
      ...(passphrase === undefined ? [] : [{ _tag: "Sealed", passphrase } as const]),
      ...(words === undefined ? [] : [{ _tag: "Words", words } as const]),
      ...(external === undefined
        ? []
        : [{ _tag: "External", ...external, patienceMillis: externalSeconds * 1000 } as const])
    ]
    const [one, ...others] = given
    return one === undefined || others.length > 0
      ? Setting.refused(
          "Set exactly one of CHAIN_WALLET_PASSPHRASE, CHAIN_SEED and CHAIN_SIGNER to choose the signer"
        )
      : Config.succeed(one)
  }
)

export const config: Config.Config<Wallet> = Setting.all({ walletFile: file, signer })
