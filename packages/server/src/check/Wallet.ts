import * as WalletFile from "@satrail/chain/WalletFile"
import { Effect, Result } from "effect"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import path from "node:path"
import type { Network } from "@satrail/bitcoin/Network"
import type * as Wallet from "../environment/Wallet.ts"
import { applying, type Check, type Line, misconfigured, right, warning } from "../base/Check.ts"

/**
 * Returns whether a command can be started. The command is a path, or the name of a program in one of PATH's
 * folders.
 */
const isProgram = (command: string): boolean =>
  (/[/\\]/.test(command)
    ? [command]
    : (process.env["PATH"] ?? "").split(path.delimiter).map((folder) => path.join(folder, command))
  ).some((file) => {
    try {
      accessSync(file, constants.X_OK)
      return existsSync(file)
    } catch {
      return false // missing, or not executable by this user: try the next folder
    }
  })

const signer = Effect.fnUntraced(function* (
  { signer, walletFile }: Wallet.Wallet,
  wallet: WalletFile.WalletFile
): Effect.fn.Return<Line> {
  switch (signer._tag) {
    case "External":
      return isProgram(signer.command)
        ? right(`${signer.command} signs`)
        : misconfigured(
            `CHAIN_SIGNER: ${signer.command} is not a program that this user may run`,
            "Set CHAIN_SIGNER to a program and its arguments."
          )
    case "Words":
      return WalletFile.isSeedOf(signer.words, wallet)
        ? right("CHAIN_SEED is the wallet's seed")
        : misconfigured(
            `CHAIN_SEED is not the seed of the wallet in ${walletFile}`,
            "Set CHAIN_SEED to that wallet's words, or CHAIN_WALLET to the wallet that these words belong to."
          )
    case "Sealed": {
      if (wallet.seed === null)
        return misconfigured(
          `the wallet in ${walletFile} was created without its seed, so nothing can sign`,
          "Set CHAIN_SEED or CHAIN_SIGNER in place of CHAIN_WALLET_PASSPHRASE."
        )
      const opened = yield* Effect.result(WalletFile.open(walletFile, wallet, signer.passphrase))
      if (Result.isSuccess(opened)) return right("CHAIN_WALLET_PASSPHRASE decrypts the wallet's seed")
      const { message, reason } = opened.failure
      const remedy =
        reason === WalletFile.otherKeys
          ? "Move the file away, and create it again with `satrail wallet restore` and the words on paper."
          : "Set CHAIN_WALLET_PASSPHRASE to the passphrase entered in `satrail wallet create`."
      return misconfigured(message, remedy)
    }
  }
})

/**
 * Checks who else can read the wallet file. Its public part reveals every payment, and its encrypted seed is
 * protected only by the passphrase.
 */
const privacy = (file: string): ReadonlyArray<Line> => {
  const { mode, uid } = statSync(file)
  const own = process.getuid?.()
  return applying([
    (mode & 0o077) !== 0 &&
      warning(
        `other users can read the wallet in ${file} (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
        `Run: chmod 600 ${file}`
      ),
    own !== undefined &&
      own !== uid &&
      own !== 0 &&
      warning(
        `the wallet in ${file} belongs to another user (${uid}; this process runs as ${own})`,
        `Run: chown ${own} ${file}`
      )
  ])
}

const look = Effect.fnUntraced(function* (
  network: Network,
  given: Wallet.Wallet
): Effect.fn.Return<ReadonlyArray<Line>> {
  const { walletFile } = given
  const read = yield* Effect.result(WalletFile.read(walletFile))
  if (Result.isFailure(read))
    return [
      misconfigured(
        `CHAIN_WALLET: ${read.failure.message}`,
        "Set CHAIN_WALLET to the wallet's file, and let this user read it."
      )
    ]
  const { accounts } = read.success
  if (accounts.network !== network)
    return [
      misconfigured(
        `the wallet in ${walletFile} is for ${accounts.network}, but SATRAIL_NETWORK is ${network}`,
        "Set CHAIN_WALLET to a wallet for the same network."
      )
    ]
  return [
    right(`${walletFile}, with the fingerprint ${accounts.fingerprint}`),
    ...privacy(walletFile),
    yield* signer(given, read.success)
  ]
})

export const check = (network: Network, wallet: Wallet.Wallet): Check => ({
  subject: "wallet",
  lines: look(network, wallet)
})
