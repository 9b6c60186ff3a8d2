import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import * as Descriptor from "@satrail/chain/Descriptor"
import * as Follower from "@satrail/chain/Follower"
import * as Keys from "@satrail/chain/Keys"
import * as Rescan from "@satrail/chain/Rescan"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { Records } from "@satrail/core/Records"
import { Clock, Console, Effect, Option, Redacted } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import path from "node:path"
import { CommandFailed } from "./CommandFailed.ts"
import * as Environment from "./Environment.ts"
import * as Server from "./Server.ts"

const told = (error: { readonly message: string }) => new CommandFailed({ message: error.message })

const label = { label: "secret" }

/** A secret from the environment, or asked for: never from the command line, where everybody on the machine could read it. */
const secret = (name: string, message: string) =>
  Effect.suspend(() => {
    const given = process.env[name] ?? ""
    if (given !== "") return Effect.succeed(Redacted.make(given, label))
    if (!process.stdin.isTTY)
      return Effect.fail(new CommandFailed({ message: `Set ${name}, or run this in a terminal, which prompts for it.` }))
    return Effect.mapError(Prompt.run(Prompt.Password({ message })), () => new CommandFailed({ message: "Nothing was done." }))
  })

const minPassphrase = 12

const newPassphrase = Effect.gen(function* () {
  const passphrase = yield* secret("CHAIN_WALLET_PASSPHRASE", "A passphrase for the wallet's file")
  if (Redacted.value(passphrase).length < minPassphrase) {
    return yield* new CommandFailed({ message: `The passphrase wants at least ${minPassphrase} characters.` })
  }
  return passphrase
})

const defaultFile = path.join(process.env["SATRAIL_DATA"] ?? "./.satrail", "wallet.json")

const file = Flag.String("file").pipe(
  Flag.withDescription("The wallet's file"),
  Flag.withDefault(process.env["CHAIN_WALLET"] ?? defaultFile)
)
const network = Flag.Literals("network", Network.all).pipe(Flag.withDescription("The bitcoin network"))
const withoutSeed = Flag.Boolean("without-seed").pipe(
  Flag.withDescription("Keep the seed out of the file: another program signs"),
  Flag.withDefault(false)
)

const shown = (accounts: Keys.Accounts) => [`fingerprint  ${accounts.fingerprint}`, ...Descriptor.ofAccounts(accounts)].join("\n")

const store = Effect.fnUntraced(function* (
  words: Redacted.Redacted,
  options: { readonly file: string; readonly network: Network.Network; readonly withoutSeed: boolean; readonly birthdaySeconds: number }
) {
  const accounts = Keys.accountsOf(words, options.network)
  const seed = options.withoutSeed ? null : yield* WalletFile.seal(words, yield* newPassphrase)
  const { birthdaySeconds } = options
  yield* Effect.mapError(WalletFile.write(options.file, { satrailWallet: 1, accounts, birthdaySeconds, seed }), told)
  return accounts
})

const create = Command.make("create", { file, network, withoutSeed }, (options) =>
  Effect.gen(function* () {
    const words = Seed.fromEntropy((yield* Entropy)(32))
    const birthdaySeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const accounts = yield* store(words, { ...options, birthdaySeconds })
    yield* Console.log(
      [
        "Write these 24 words down, on paper, in this order. They are shown this once.",
        "They are the money: anyone who has them can spend it, and without them it is lost with the file or its passphrase.",
        "",
        ...Redacted.value(words)
          .split(" ")
          .map((word, at) => `  ${String(at + 1).padStart(2)}  ${word}`),
        "",
        `The wallet is in ${options.file}${options.withoutSeed ? ", without the words: it can only receive" : ""}.`,
        shown(accounts)
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Make a wallet, and show its seed words once"))

const showXpub = Command.make("show-xpub", { file }, ({ file }) =>
  Effect.flatMap(Effect.mapError(WalletFile.read(file), told), ({ accounts }) => Console.log(shown(accounts)))
).pipe(Command.withDescription("Print the wallet's public keys: they reveal every payment, and can spend none"))

const birthday = Flag.String("birthday").pipe(
  Flag.withDescription("Nothing was paid to the wallet before this day, such as 2026-01-31; without it the whole chain is read"),
  Flag.optional
)

const restore = Command.make("restore", { birthday, file, network, withoutSeed }, ({ birthday, ...options }) =>
  Effect.gen(function* () {
    const day = Option.getOrElse(birthday, () => "2009-01-03")
    const millis = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN
    if (Number.isNaN(millis)) return yield* new CommandFailed({ message: "--birthday wants a day such as 2026-01-31" })
    const typed = yield* secret("CHAIN_SEED", "The seed words, with a space between them")
    const words = yield* Effect.mapError(Effect.fromResult(Seed.parse(Redacted.value(typed))), told)
    const accounts = yield* store(words, { ...options, birthdaySeconds: Math.floor(millis / 1000) })
    yield* Console.log(`The wallet is in ${options.file}.\n${shown(accounts)}`)
  })
).pipe(Command.withDescription("Make a wallet's file again from its seed words"))

const fromHeight = Flag.Int("from-height").pipe(Flag.withDescription("The first block to read"))
const gap = Flag.Int("gap").pipe(
  Flag.withDescription("How many keys in a row may be unused before the search ends"),
  Flag.withDefault(Rescan.usualGap)
)

/** Keeps every key that the chain has seen, and a gap after it, from being given out again. */
const reserve = Effect.fnUntraced(function* (wallet: string, found: Rescan.Found) {
  const [records, journal] = [yield* Records, yield* Journal]
  for (const { type, branch, next } of found.next) {
    const first = yield* records.nextKey(wallet, type, branch)
    if (next <= first) continue
    const id = yield* Id.make
    yield* journal.commit(KeyRange.reserved({ id, wallet, type, branch, first, next }, yield* Clock.currentTimeMillis))
  }
})

const rescan = Command.make("rescan", { fromHeight, gap }, ({ fromHeight, gap }) =>
  Effect.gen(function* () {
    const environment = yield* Effect.mapError(Effect.fromResult(Environment.read(process.env)), told)
    const { chainNode: chain } = environment
    if (chain === undefined) return yield* new CommandFailed({ message: "CHAIN is the sandbox: there is no chain to be read." })
    const { accounts } = yield* Effect.mapError(WalletFile.read(chain.walletFile), told)
    const node = chain.source.blocks(environment.network)
    const found = yield* Rescan.scan(node, Keys.make(accounts), {
      fromHeight,
      gap,
      onProgress: (height, tipHeight) => Console.error(`block ${height} of ${tipHeight}`)
    }).pipe(
      Effect.catchTag("ChainUnavailable", ({ cause }) =>
        Effect.fail(new CommandFailed({ message: `The chain cannot be read: ${String(cause)}` }))
      )
    )
    yield* Effect.gen(function* () {
      yield* reserve(accounts.fingerprint, found)
      // The service reads from there on again: what it has not credited it will find.
      const cursor = { source: "chain", value: Follower.cursorBefore(fromHeight) }
      yield* (yield* Journal).commit(Cursor.moved(cursor, yield* Id.make, yield* Clock.currentTimeMillis))
    }).pipe(Effect.provide(Server.storage(environment)), Effect.mapError(told))
    for (const { outpoint, amount, height, type, branch, index } of found.coins) {
      const place = Seed.written([...Seed.accountPath(type, accounts.network), branch, index])
      yield* Console.log(`${outpoint}  ${Msat.toSats(amount)} sats  block ${height}  ${place}`)
    }
    const total = Msat.toSats(Msat.sum(...found.coins.map(({ amount }) => amount)))
    yield* Console.log(
      `${found.coins.length} coins, ${total} sats. The service reads from block ${fromHeight} on again when it is started.`
    )
  })
).pipe(
  Command.withDescription(
    "Find every coin of the wallet in the chain, and let the service look for missed deposits; stop the service first"
  )
)

/** Makes and looks after the wallet of a real chain. It works on files and the database, not on a running service. */
export const wallet = Command.make("wallet").pipe(
  Command.withDescription("Make, show, restore and search for the wallet of a real chain"),
  Command.withSubcommands([create, showXpub, restore, rescan])
)
