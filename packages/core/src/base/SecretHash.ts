import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { Brand, Schema } from "effect"
import * as Id from "./Id.ts"

/** What is kept of a secret in its place: its SHA-256, in lower-case hex. A type of its own, so that the secret itself cannot be stored there. */
export const SecretHash = Schema.String.pipe(Schema.brand("SecretHash"))
export type SecretHash = typeof SecretHash.Type

/** Names a text as the hash of a secret. It is not checked. */
export const make = Brand.nominal<SecretHash>()

/** The hash of a secret, whatever was sent as one. */
export const of = (secret: string): SecretHash => make(Id.toHex(sha256(utf8ToBytes(secret))))
