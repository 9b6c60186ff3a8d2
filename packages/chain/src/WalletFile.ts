import { Effect, Redacted, Schema } from "effect"
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Accounts, accountsOf } from "./Keys.ts"

/** The wallet's file cannot be used. */
export class WalletUnusable extends Schema.TaggedError<WalletUnusable>()("WalletUnusable", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The wallet in ${this.file} cannot be used: ${this.reason}`
  }
}

const Sealed = Schema.Struct({
  kdf: Schema.Literal("scrypt"),
  n: Schema.Int,
  r: Schema.Int,
  p: Schema.Int,
  salt: Schema.String,
  cipher: Schema.Literal("aes-256-gcm"),
  nonce: Schema.String,
  tag: Schema.String,
  text: Schema.String
})

/**
 * The contents of a wallet file: the public keys, and the seed words encrypted with the passphrase. Without the
 * words, the wallet can only receive.
 */
export const WalletFile = Schema.Struct({
  satrailWallet: Schema.Literal(1),
  accounts: Accounts,
  /** The wallet received no payments before this time, in seconds since 1970. */
  birthdaySeconds: Schema.Int,
  seed: Schema.NullOr(Sealed)
})
export interface WalletFile extends Schema.Schema.Type<typeof WalletFile> {}

// scrypt (RFC 7914) with 128 MiB, about half a second: an attacker pays this per guess.
const cost = { n: 2 ** 17, r: 8, p: 1 }

const keyOf = (passphrase: Redacted.Redacted, salt: Buffer, { n, r, p }: typeof cost) =>
  Effect.callback<Buffer, Error>((resume) =>
    scrypt(Redacted.value(passphrase), salt, 32, { N: n, r, p, maxmem: 256 * n * r }, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.fail(error))
    )
  )

/** Encrypts seed words with a passphrase (AES-256-GCM). */
export const seal = Effect.fnUntraced(function* (words: Redacted.Redacted, passphrase: Redacted.Redacted) {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv("aes-256-gcm", yield* Effect.orDie(keyOf(passphrase, salt, cost)), nonce)
  const text = Buffer.concat([cipher.update(Redacted.value(words), "utf8"), cipher.final()])
  const [hexSalt, hexNonce, tag] = [salt, nonce, cipher.getAuthTag()].map((bytes) => bytes.toString("hex"))
  return {
    kdf: "scrypt" as const,
    ...cost,
    salt: hexSalt ?? "",
    cipher: "aes-256-gcm" as const,
    nonce: hexNonce ?? "",
    tag: tag ?? "",
    text: text.toString("hex")
  }
})

/**
 * Returns whether these words are the seed of a file's public keys. The passphrase does not protect these keys:
 * anyone who can write the file could exchange them, and receive all deposits.
 */
export const isSeedOf = (words: Redacted.Redacted, { accounts }: WalletFile): boolean =>
  isDeepStrictEqual(accountsOf(words, accounts.network), accounts)

/** The reason why a file is unusable if its public keys were changed. */
export const otherKeys = "its public keys are not those of its seed, and deposits would go to them"

/** Decrypts the seed words of a wallet file. Fails unless they are the seed of its public keys. */
export const open = Effect.fnUntraced(function* (
  file: string,
  wallet: WalletFile,
  passphrase: Redacted.Redacted
) {
  const { seed } = wallet
  if (seed === null)
    return yield* new WalletUnusable({ file, reason: "it was created without its seed and can only receive" })
  const words = yield* Effect.gen(function* () {
    const decipher = createDecipheriv(
      "aes-256-gcm",
      yield* keyOf(passphrase, Buffer.from(seed.salt, "hex"), seed),
      Buffer.from(seed.nonce, "hex")
    )
    decipher.setAuthTag(Buffer.from(seed.tag, "hex"))
    return yield* Effect.try(() =>
      Redacted.make(
        Buffer.concat([decipher.update(Buffer.from(seed.text, "hex")), decipher.final()]).toString("utf8"),
        {
          label: "seed words"
        }
      )
    )
  }).pipe(
    Effect.mapError(
      () => new WalletUnusable({ file, reason: "the passphrase does not open it, or the file is damaged" })
    )
  )
  return isSeedOf(words, wallet) ? words : yield* new WalletUnusable({ file, reason: otherKeys })
})

const Json = Schema.fromJsonString(WalletFile)

/** Reads a wallet's file. */
export const read = (file: string): Effect.Effect<WalletFile, WalletUnusable> =>
  Effect.gen(function* () {
    if (!existsSync(file)) {
      return yield* new WalletUnusable({
        file,
        reason: "the file does not exist. Create it with `satrail wallet create` or `satrail wallet restore`."
      })
    }
    const text = yield* Effect.try({
      try: () => readFileSync(file, "utf8"),
      catch: (cause) => new WalletUnusable({ file, reason: String(cause) })
    })
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(Json)(text),
      () => new WalletUnusable({ file, reason: "it was not written by `satrail wallet create`" })
    )
  })

/**
 * Writes a new wallet file that only its owner can read. Never overwrites an existing file, because its wallet
 * may hold money.
 */
export const write = (file: string, wallet: WalletFile): Effect.Effect<void, WalletUnusable> =>
  Effect.suspend(() => {
    if (existsSync(file)) {
      return Effect.fail(
        new WalletUnusable({
          file,
          reason: "it already exists. Move it away first, and keep it, because the wallet may contain funds."
        })
      )
    }
    return Effect.try({
      try: () => {
        mkdirSync(path.dirname(file), { recursive: true })
        const beside = `${file}.new`
        writeFileSync(beside, `${JSON.stringify(Schema.encodeSync(WalletFile)(wallet), null, 2)}\n`, {
          mode: 0o600
        })
        chmodSync(beside, 0o600) // a file left by a crash keeps its mode
        renameSync(beside, file)
      },
      catch: (cause) => new WalletUnusable({ file, reason: String(cause) })
    })
  })
