import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as WalletFile from "../src/WalletFile.ts"
import { accounts, words } from "./Ours.ts"

const passphrase = Redacted.make("correct horse battery")

const inFolder = <A, E>(story: (file: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "wallet-"))),
    (folder) => story(path.join(folder, "deep", "wallet.json")),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const wallet: WalletFile.WalletFile = {
  satrailWallet: 1,
  accounts,
  birthdaySeconds: 1_700_000_000,
  seed: await Effect.runPromise(WalletFile.seal(words, passphrase))
}

describe("the wallet file", () => {
  it.live("wallet file: the seed can only be read with the file's passphrase", () =>
    inFolder(
      Effect.fnUntraced(function* (file) {
        yield* WalletFile.write(file, wallet)
        const read = yield* WalletFile.read(file)
        assert.deepStrictEqual(read.accounts, accounts)
        assert.strictEqual(
          Redacted.value(yield* WalletFile.open(file, read, passphrase)),
          Redacted.value(words)
        )
        const error = yield* Effect.flip(WalletFile.open(file, read, Redacted.make("correct horse")))
        assert.include(error.message, "passphrase")
        if (read.seed === null) return assert.fail("no seed")
        const damaged = { ...read, seed: { ...read.seed, text: `00${read.seed.text.slice(2)}` } }
        assert.strictEqual(
          (yield* Effect.flip(WalletFile.open(file, damaged, passphrase)))._tag,
          "WalletUnusable"
        )
      })
    )
  )

  it.live("wallet file: the file contains no word of the seed, and only the file's owner may read it", () =>
    inFolder(
      Effect.fnUntraced(function* (file) {
        yield* WalletFile.write(file, wallet)
        const text = readFileSync(file, "utf8")
        for (const word of Redacted.value(words).split(" ")) assert.notInclude(text, word)
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      })
    )
  )

  it.live(
    "wallet file: an existing file is never overwritten, and guessing a file's passphrase is slow",
    () =>
      inFolder(
        Effect.fnUntraced(function* (file) {
          // The bytes that scrypt needs for each guess (RFC 7914).
          assert.isAtLeast(128 * (wallet.seed?.n ?? 0) * (wallet.seed?.r ?? 0), 128 * 2 ** 20)
          assert.include((yield* Effect.flip(WalletFile.read(file))).message, "satrail wallet create")
          yield* WalletFile.write(file, { ...wallet, seed: null })
          const before = readFileSync(file, "utf8")
          assert.include((yield* Effect.flip(WalletFile.write(file, wallet))).message, "it already exists")
          assert.strictEqual(readFileSync(file, "utf8"), before)
          assert.include(
            (yield* Effect.flip(WalletFile.open(file, yield* WalletFile.read(file), passphrase))).message,
            "without its seed"
          )
        })
      )
  )
})
