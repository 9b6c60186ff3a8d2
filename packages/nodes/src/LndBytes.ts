import { Schema, SchemaGetter } from "effect"

// lnd's REST interface has bytes in base64. Ours are in hex.

/** A text in hex, of a kind, that lnd sends as base64. */
export const hex = <A extends string>(text: Schema.Codec<A, string>) =>
  Schema.Uint8ArrayFromBase64.pipe(Schema.decodeTo(text, { decode: SchemaGetter.encodeHex(), encode: SchemaGetter.decodeHex() }))

/** For a body. */
export const toBase64 = (text: string) => Buffer.from(text, "hex").toString("base64")

/** For a path. lnd wants the padding that Node's own base64url leaves out. */
export const toBase64Url = (text: string) => toBase64(text).replaceAll("+", "-").replaceAll("/", "_")
