import { Secrets } from "../core/Secrets.ts"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createPrivateKey, createPublicKey, hkdfSync, sign } from "node:crypto"
import * as Seal from "@satrail/http/wire/Seal"

// Prefix of an Ed25519 private key in PKCS #8 (RFC 8410, section 10.3), and the length of a public key's
// prefix.
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex")
const spkiBytes = 12

/**
 * Encrypts webhook endpoints' secrets (AES-256-GCM) and signs with an Ed25519 key. Both keys are derived from
 * `secret`, which must be the same in all processes that share a database. If `secret` changes, existing
 * endpoint secrets can no longer be decrypted and must be rotated.
 */
export const make = (secret: Redacted.Redacted): Secrets => {
  const sealer = Seal.make(Redacted.make(`webhooks: ${Redacted.value(secret)}`))
  const seed = Buffer.from(
    hkdfSync("sha256", Redacted.value(secret), "", "satrail: signatures of webhooks", 32)
  )
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(key)
    .export({ format: "der", type: "spki" })
    .subarray(spkiBytes)
    .toString("base64")
  return {
    seal: sealer.seal,
    open: sealer.open,
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
    publicKey
  }
}

export const layer = (secret: Redacted.Redacted) => Layer.sync(Secrets, () => make(secret))

/** Path of the public key, in Standard Webhooks format. */
export const path = "/.well-known/satrail-webhook-keys"

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const secrets = yield* Secrets
    const keys = secrets === null ? [] : [{ key: `whpk_${secrets.publicKey}`, algorithm: "ed25519" }]
    yield* router.add(
      "GET",
      path,
      HttpServerResponse.jsonUnsafe(
        { keys },
        { headers: { "cache-control": "public, max-age=3600", "access-control-allow-origin": "*" } }
      )
    )
  })
)

/** Serves the public key for `v1a` signatures. */
export const extension = () => ({ routes, policy: {} })
