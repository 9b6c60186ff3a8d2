import * as CompanyId from "@satrail/core/base/CompanyId"
import * as JsonText from "@satrail/core/base/JsonText"
import type * as Person from "../core/Person.ts"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type { isoCBOR as Cbor } from "@simplewebauthn/server/helpers"
import { randomBytes } from "node:crypto"
import { type Party, partyOf, PublicUrl } from "@satrail/http/edge/PublicUrl"
import * as Errors from "@satrail/http/wire/Errors"
import * as Seal from "@satrail/http/wire/Seal"

// WebAuthn. Challenges are sealed instead of stored, so strangers cannot fill the store. A challenge cannot be
// replayed, because each challenge must be newer than the last one that the passkey signed, and an invitation
// is valid only once.

/** Time within which a challenge must be signed. */
export const challengeMillis = 5 * 60_000

/** The purpose of a challenge. The challenge is valid for no other purpose. */
export const Purpose = Schema.Literals(["sign-in", "step-up", "join", "add"])
export type Purpose = typeof Purpose.Type

const Challenge = Schema.Struct({
  passkey: Purpose,
  bound: Schema.String,
  atMillis: Schema.Int,
  nonce: Schema.String
})
const isChallenge = Schema.is(Challenge)

const text = (bytes: number) =>
  Schema.String.check(Schema.isPattern(/^[\w-]+$/), Schema.isMaxLength(Math.ceil((bytes * 4) / 3)))

/** A signature with a passkey, as the browser returns it, in base64url. */
export const Assertion = Schema.Struct({
  id: text(1023),
  clientDataJSON: text(4096),
  authenticatorData: text(2048),
  signature: text(2048),
  userHandle: text(64)
})
export type Assertion = typeof Assertion.Type

/** A new passkey, as the browser returns it, in base64url. */
export const Attestation = Schema.Struct({
  id: text(1023),
  clientDataJSON: text(4096),
  attestationObject: text(16_384)
})
export type Attestation = typeof Attestation.Type

type CBORType = Parameters<typeof Cbor.encode>[0]

/** ES256, EdDSA and RS256, by their COSE numbers. */
export const algorithms = [-7, -8, -257]

const utf8 = (base64url: string): string => Buffer.from(base64url, "base64url").toString("utf8")

/** Returns the id of the person whose passkey the browser used. */
export const personIdOf = ({ userHandle }: Assertion): string => utf8(userHandle)

/** The same response for every reason, so that callers learn nothing about people or passkeys. */
export const notVerified = Errors.failure(
  "unauthorized",
  "This passkey is not valid here, or the request took too long. Try again."
)

const off = Errors.failure(
  "not_found",
  "Passkeys require SATRAIL_PUBLIC_URL with https:// and a domain. Ask the operator to set it, or sign in with an API key."
)

/** Loaded on first use, because loading it takes longer than running a command. */
const library = Effect.promise(() => import("@simplewebauthn/server"))
const helpers = Effect.promise(() => import("@simplewebauthn/server/helpers"))

export const make = Effect.gen(function* () {
  const party = partyOf(yield* PublicUrl)
  const sealer = (yield* Seal.Seal) ?? Seal.make(Redacted.make(randomBytes(32).toString("hex")))

  const here: Effect.Effect<Party, Errors.Failure<"not_found">> = party === undefined
    ? Effect.fail(off)
    : Effect.succeed(party)

  /** Returns a new challenge. `bound` is a string that must be the same when the challenge is signed. */
  const challenge = Effect.fnUntraced(function* (passkey: Purpose, bound: string) {
    const content = {
      passkey,
      bound,
      atMillis: yield* Clock.currentTimeMillis,
      nonce: randomBytes(16).toString("hex")
    }
    return Buffer.from(sealer.seal(JSON.stringify(content), CompanyId.operator)).toString("base64url")
  })

  /** Returns when a signed challenge was issued. Undefined if it is not valid for this purpose, or too old. */
  const issuedAt = (
    signed: string,
    passkey: Purpose,
    bound: string,
    nowMillis: number
  ): number | undefined => {
    const content = JsonText.parsed(sealer.open(utf8(signed), CompanyId.operator) ?? "null")
    if (!isChallenge(content) || content.passkey !== passkey || content.bound !== bound) return undefined
    return content.atMillis <= nowMillis && nowMillis < content.atMillis + challengeMillis
      ? content.atMillis
      : undefined
  }

  /** Runs one of the library's verification functions, which reject on any mismatch. */
  const verified = <A>(
    verify: (expectedChallenge: (signed: string) => boolean, party: Party) => Promise<A | undefined>
  ) =>
    Effect.fnUntraced(function* (passkey: Purpose, bound: string) {
      const at = yield* here
      const nowMillis = yield* Clock.currentTimeMillis
      let challengedAtMillis: number | undefined
      const expected = (signed: string) => {
        challengedAtMillis = issuedAt(signed, passkey, bound, nowMillis)
        return challengedAtMillis !== undefined
      }
      const found = yield* Effect.option(Effect.tryPromise(() => verify(expected, at)))
      return Option.isSome(found) && found.value !== undefined && challengedAtMillis !== undefined
        ? { value: found.value, challengedAtMillis }
        : yield* Effect.fail(notVerified)
    })

  /** Verifies a new passkey. */
  const registered = Effect.fnUntraced(function* (
    attestation: Attestation,
    name: string,
    purpose: Purpose,
    bound: string
  ) {
    const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoCBOR }] = [
      yield* library,
      yield* helpers
    ]
    const { value, challengedAtMillis } = yield* verified(async (expectedChallenge, { id, origin }) => {
      // Drop the manufacturer's attestation statement: nothing depends on it, and checking it could fetch URLs
      // that it contains.
      const authData = decodeAttestationObject(Buffer.from(attestation.attestationObject, "base64url")).get(
        "authData"
      )
      const parts: ReadonlyArray<[string, CBORType]> = [
        ["fmt", "none"],
        ["attStmt", new Map<string, CBORType>()],
        ["authData", authData]
      ]
      const bare = isoCBOR.encode(new Map(parts))
      const { registrationInfo } = await verifyRegistrationResponse({
        response: {
          id: attestation.id,
          rawId: attestation.id,
          type: "public-key",
          clientExtensionResults: {},
          response: {
            clientDataJSON: attestation.clientDataJSON,
            attestationObject: Buffer.from(bare).toString("base64url")
          }
        },
        expectedChallenge,
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms
      })
      return registrationInfo?.credential
    })(purpose, bound)
    if (value.id !== attestation.id) return yield* Effect.fail(notVerified)
    const passkey: Person.Passkey = {
      id: value.id,
      name,
      publicKey: Buffer.from(value.publicKey).toString("base64url"),
      createdAtMillis: yield* Clock.currentTimeMillis
    }
    return { passkey, use: { id: value.id, counter: value.counter, challengedAtMillis } satisfies Person.Use }
  })

  /** Verifies that this person signed a new challenge. */
  const signed = Effect.fnUntraced(function* (
    assertion: Assertion,
    person: Person.Person,
    purpose: Purpose,
    bound: string
  ) {
    const passkey = person.passkeys.find(({ id }) => id === assertion.id)
    const last = person.uses.find(({ id }) => id === assertion.id)
    if (passkey === undefined || last === undefined || personIdOf(assertion) !== person.id)
      return yield* Effect.fail(notVerified)
    const { verifyAuthenticationResponse } = yield* library
    const { id, ...response } = assertion
    const { value, challengedAtMillis } = yield* verified(
      async (expectedChallenge, { id: expectedRPID, origin }) => {
        const result = await verifyAuthenticationResponse({
          response: { id, rawId: id, type: "public-key", clientExtensionResults: {}, response },
          expectedChallenge,
          expectedOrigin: origin,
          expectedRPID,
          credential: { id, publicKey: Buffer.from(passkey.publicKey, "base64url"), counter: last.counter },
          requireUserVerification: true
        })
        return result.verified ? result.authenticationInfo.newCounter : undefined
      }
    )(purpose, bound)
    if (challengedAtMillis <= last.challengedAtMillis) return yield* Effect.fail(notVerified)
    return { id, counter: value, challengedAtMillis } satisfies Person.Use
  })

  return { here, challenge, registered, signed }
})
