import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type * as Network from "@satrail/bitcoin/Network"
import * as Descriptor from "@satrail/chain/Descriptor"
import * as Keys from "@satrail/chain/Keys"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Rfc3339 from "@satrail/core/base/Rfc3339"
import { Records } from "@satrail/core/service/Records"
import { Clock, Config, Console, Effect, Option, Redacted } from "effect"
import { Prompt } from "effect/cli"
import * as Environment from "../deployment/Environment.ts"
import { Variables } from "../environment/Unknown.ts"
import * as Wallet from "../environment/Wallet.ts"
import * as Server from "../serving/Server.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Output from "../client/Output.ts"

/**
 * Reads a secret from the environment or prompts for it. Secrets are not accepted as arguments, because every
 * user of the machine could read them there.
 */
const secret = Effect.fnUntraced(function* ({ name }: { readonly name: string }, message: string) {
  const given = yield* Config.option(Config.Redacted(name))
  if (Option.isSome(given)) return given.value
  if (!process.stdin.isTTY)
    return yield* new CommandFailed({
      message: `Set ${name}, or run this in a terminal, which prompts for it.`
    })
  return yield* Effect.mapError(
    Prompt.run(Prompt.Password({ message })),
    () => new CommandFailed({ message: "Canceled. Nothing was changed." })
  )
})

const minPassphrase = 12

const newPassphrase = Effect.gen(function* () {
  const passphrase = yield* secret(Wallet.settings.passphrase, "A passphrase for the wallet's file")
  if (Redacted.value(passphrase).length < minPassphrase) {
    return yield* new CommandFailed({
      message: `The passphrase must have at least ${minPassphrase} characters.`
    })
  }
  return passphrase
})

const shown = (accounts: Keys.Accounts) =>
  [`fingerprint  ${accounts.fingerprint}`, ...Descriptor.ofAccounts(accounts)].join("\n")

/** Returns the wallet file to use, from the flag or else from the environment. */
const placeOf = (file: Option.Option<string>) =>
  Option.match(file, { onNone: () => Wallet.file, onSome: Effect.succeed })

interface Making {
  readonly file: Option.Option<string>
  readonly network: Network.Network
  readonly withoutSeed: boolean
}

const store = Effect.fnUntraced(function* (
  words: Redacted.Redacted,
  { file, network, withoutSeed }: Making,
  birthdaySeconds: number
) {
  const place = yield* placeOf(file)
  const accounts = Keys.accountsOf(words, network)
  const seed = withoutSeed ? null : yield* WalletFile.seal(words, yield* newPassphrase)
  yield* Effect.mapError(
    WalletFile.write(place, { satrailWallet: 1, accounts, birthdaySeconds, seed }),
    Output.failed
  )
  return { accounts, place }
})

export const create = Effect.fnUntraced(function* (making: Making) {
  const words = Seed.fromEntropy((yield* Entropy)(32))
  const { accounts, place } = yield* store(words, making, Math.floor((yield* Clock.currentTimeMillis) / 1000))
  yield* Console.log(
    [
      "Write down these 24 words on paper, in this order. They are shown only once.",
      "Anyone who has them can spend the funds. Without them, the funds are lost if you lose the file or its passphrase.",
      "",
      ...Redacted.value(words)
        .split(" ")
        .map((word, at) => `  ${String(at + 1).padStart(2)}  ${word}`),
      "",
      `The wallet is in ${place}${making.withoutSeed ? ", without the seed: it can only receive" : ""}.`,
      shown(accounts)
    ].join("\n")
  )
})

/**
 * Returns the largest number of reserved keys of any account, from the database. A wallet with this gap limit
 * misses no coin, whichever keys were paid.
 */
const gapNeeded = Effect.fnUntraced(function* (wallet: string) {
  const environment = yield* Effect.mapError(
    Effect.fromResult(Environment.read(yield* Variables)),
    Output.failed
  )
  const reserved = Effect.gen(function* () {
    const records = yield* Records
    const all = AddressType.literals.flatMap((type) =>
      ([0, 1] as const).map((branch) => records.nextKey(wallet, type, branch))
    )
    return Math.max(...(yield* Effect.all(all)))
  })
  return yield* reserved.pipe(Effect.provide(Server.storage(environment)), Effect.mapError(Output.failed))
})

const usualGap = 20

export const showXpub = Effect.fnUntraced(function* ({
  file,
  gap
}: Pick<Making, "file"> & { readonly gap: boolean }) {
  const { accounts } = yield* Effect.mapError(WalletFile.read(yield* placeOf(file)), Output.failed)
  yield* Console.log(shown(accounts))
  if (!gap) {
    yield* Console.error(
      `Unpaid addresses and restarts leave gaps. A wallet with the usual gap limit of ${usualGap} can miss coins: --gap prints the limit to set.`
    )
    return
  }
  const reserved = yield* gapNeeded(accounts.fingerprint)
  const needed = Math.max(reserved, usualGap)
  yield* Console.log(
    `gap limit    ${needed}: at most ${reserved} keys of an account were reserved. importdescriptors: "range": [0, ${needed}]`
  )
})

export const restore = Effect.fnUntraced(function* ({
  birthday,
  ...making
}: Making & { readonly birthday: Option.Option<string> }) {
  const day = Option.getOrElse(birthday, () => "2009-01-03")
  const millis = Rfc3339.startOfDay(day)
  if (millis === undefined)
    return yield* new CommandFailed({ message: "--birthday must be a date, such as 2026-01-31" })
  // With a later birthday, no block would be searched for the wallet's coins.
  if (millis > (yield* Clock.currentTimeMillis))
    return yield* new CommandFailed({ message: "--birthday must not be in the future" })
  const typed = yield* secret(Wallet.settings.words, "The seed words, with a space between them")
  const words = yield* Effect.mapError(Effect.fromResult(Seed.parse(Redacted.value(typed))), Output.failed)
  const { accounts, place } = yield* store(words, making, Math.floor(millis / 1000))
  yield* Console.log(`The wallet is in ${place}.\n${shown(accounts)}`)
})
