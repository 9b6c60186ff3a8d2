import { Schema, SchemaGetter } from "effect"

// lnd's REST interface encodes bytes in base64; we use hex.

/** A hex string type that lnd encodes in base64. */
export const hex = <A extends string>(text: Schema.Codec<A, string>) =>
  Schema.Uint8ArrayFromBase64.pipe(
    Schema.decodeTo(text, { decode: SchemaGetter.encodeHex(), encode: SchemaGetter.decodeHex() })
  )

/** Encodes for a request body. */
export const toBase64 = (text: string) => Buffer.from(text, "hex").toString("base64")

/** Encodes for a URL path. lnd requires the padding that Node's base64url omits. */
export const toBase64Url = (text: string) => toBase64(text).replaceAll("+", "-").replaceAll("/", "_")
