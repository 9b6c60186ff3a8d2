import { isoCBOR } from "@simplewebauthn/server/helpers"
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

// A device with passkeys, as a page sees it through the browser.

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest()
const base64url = (data: Uint8Array | string) => Buffer.from(data).toString("base64url")

type Value = Parameters<typeof isoCBOR.encode>[0]

/** Flags of a signature: a user was present (1), and unlocked the device (4). A new passkey adds 0x40. */
export const [present, verified] = [0x01, 0x05]

export interface Options {
  readonly origin?: string
  readonly rpId?: string
  readonly flags?: number
  readonly counter?: number
}

/** A device at https://pay.example.com, with one passkey. */
export const make = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x = "", y = "" } = publicKey.export({ format: "jwk" })
  const credentialId = randomBytes(16)
  const id = base64url(credentialId)
  const cose = isoCBOR.encode(
    new Map<number, Value>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, "base64url"))],
      [-3, new Uint8Array(Buffer.from(y, "base64url"))]
    ])
  )
  const clientData = (type: string, challenge: string, { origin = "https://pay.example.com" }: Options) =>
    JSON.stringify({ type, challenge, origin, crossOrigin: false })
  const authData = (
    { rpId = "pay.example.com", flags = verified, counter = 0 }: Options,
    more: Buffer = Buffer.alloc(0)
  ) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | (more.length > 0 ? 0x40 : 0)]), count, more])
  }
  return {
    id,
    /** Creates the passkey for a challenge. */
    create: (challenge: string, options: Options = {}) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, cose])
      const attestation = new Map<string, Value>([
        ["fmt", "none"],
        ["attStmt", new Map<string, Value>()],
        ["authData", new Uint8Array(authData(options, attested))]
      ])
      return {
        id,
        clientDataJSON: base64url(clientData("webauthn.create", challenge, options)),
        attestationObject: base64url(isoCBOR.encode(attestation))
      }
    },
    /** Signs a challenge with this person's passkey. */
    sign: (challenge: string, personId: string, options: Options = {}) => {
      const data = clientData("webauthn.get", challenge, options)
      const authenticatorData = authData(options)
      return {
        id,
        clientDataJSON: base64url(data),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(sign("sha256", Buffer.concat([authenticatorData, sha256(data)]), privateKey)),
        userHandle: base64url(personId)
      }
    }
  }
}
