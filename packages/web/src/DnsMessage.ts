import { Result, Schema } from "effect"

/** The bytes are not a response to the question (RFC 1035). `reason` completes "the response …". */
export class DnsInvalid extends Schema.TaggedError<DnsInvalid>()("DnsInvalid", { reason: Schema.String }) {}

/** A resolver's response to a query for TXT records. */
export interface Answer {
  /** The response code: 0 is success, 3 is "there is no such name", all other codes are errors. */
  readonly code: number
  /** The AD bit (RFC 4035, section 3.2.3): the resolver has validated the whole response. */
  readonly isAuthenticated: boolean
  /**
   * The TXT records of the name that the aliases lead to. Each record is its strings joined, with one character
   * per byte.
   */
  readonly texts: ReadonlyArray<string>
}

/** Maximum size of a message (RFC 1035, section 4.2.2). */
export const maxBytes = 65_535
/** Maximum number of records read, and of consecutive aliases (CNAME) followed. */
export const maxRecords = 256
export const maxAliases = 8
/** The maximum number of labels in a name. */
const maxJumps = 127

const [cname, txt, internet] = [5, 16, 1] as const
/** Requests recursion (RD), and the AD bit in the response (RFC 6840, section 5.7). */
const asks = 0x0120
const [isResponse, isTruncated, isAuthentic] = [0x8000, 0x0200, 0x0020] as const

const encoder = new TextEncoder()

/**
 * Returns whether a name is valid: labels of 1 to 63 bytes, and at most 255 bytes in all, including the length
 * bytes (RFC 1035, section 2.3.4).
 */
export const isName = (name: string): boolean => {
  const lengths = name.split(".").map((label) => encoder.encode(label).length)
  return (
    lengths.every((length) => length > 0 && length <= 63) &&
    lengths.reduce((sum, length) => sum + length + 1, 1) <= 255
  )
}

/** Encodes the labels of a name as in a message: each one follows its length. */
const labelsOf = (name: string): ReadonlyArray<number> =>
  name.split(".").flatMap((label) => {
    const bytes = encoder.encode(label)
    return [bytes.length, ...bytes]
  })

/**
 * Returns the query for a name's TXT records. The name must pass `isName`. The id is 0, so that the same query
 * has the same bytes (RFC 8484, section 4.1).
 */
export const question = (name: string): Uint8Array =>
  Uint8Array.of(
    0,
    0,
    asks >> 8,
    asks & 0xff,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    ...labelsOf(name),
    0,
    0,
    txt,
    0,
    internet
  )

const refuse = (reason: string) => Result.fail(new DnsInvalid({ reason }))

/** Reads a message from a position. Never reads past its end. */
class Reader {
  readonly bytes: Uint8Array
  at: number
  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes
    this.at = at
  }
  /** Undefined past the end. */
  number(length: 1 | 2 | 4): number | undefined {
    if (this.at + length > this.bytes.length) return undefined
    let value = 0
    for (let i = 0; i < length; i++) value = value * 256 + (this.bytes[this.at++] ?? 0)
    return value
  }
  slice(length: number): Uint8Array | undefined {
    if (this.at + length > this.bytes.length) return undefined
    return this.bytes.subarray(this.at, (this.at += length))
  }
}

const latin1 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")

/**
 * Reads a name as its lowercase labels, each after its length, so that different names have different texts.
 * Undefined if the name is invalid. Each compression pointer (RFC 1035, section 4.1.4) must point closer to the
 * start of the message than the one before, so there is no loop or long chain.
 */
const nameAt = (reader: Reader): string | undefined => {
  let labels = ""
  let place = new Reader(reader.bytes, reader.at)
  let front = reader.at
  let jumps = 0
  for (;;) {
    const length = place.number(1)
    if (length === undefined) return undefined
    if (length >= 0xc0) {
      const low = place.number(1)
      if (low === undefined) return undefined
      if (jumps++ === 0) reader.at = place.at
      const target = (length & 0x3f) * 256 + low
      if (target >= front || jumps > maxJumps) return undefined
      front = target
      place = new Reader(reader.bytes, target)
      continue
    }
    if (length > 63) return undefined
    if (length === 0) {
      if (jumps === 0) reader.at = place.at
      return labels
    }
    const label = place.slice(length)
    if (label === undefined || labels.length + length + 2 > 255) return undefined
    labels += String.fromCharCode(length) + latin1(label).replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  }
}

/** Joins the strings of a TXT record; undefined if they don't exactly fill its data. */
const textOf = (data: Uint8Array): string | undefined => {
  const reader = new Reader(data, 0)
  let text = ""
  while (reader.at < data.length) {
    const length = reader.number(1)
    const string = length === undefined ? undefined : reader.slice(length)
    if (string === undefined) return undefined
    text += latin1(string)
  }
  return data.length === 0 ? undefined : text
}

interface Records {
  readonly aliases: Map<string, string>
  readonly texts: Array<readonly [owner: string, text: string]>
}

/**
 * Reads the next record, and adds it to the others if it is relevant. Returns the reason if the record cannot
 * be read.
 */
const readRecord = (reader: Reader, { aliases, texts }: Records): string | undefined => {
  const owner = nameAt(reader)
  const [type, kind, , length] = [reader.number(2), reader.number(2), reader.number(4), reader.number(2)]
  const start = reader.at
  const data = length === undefined ? undefined : reader.slice(length)
  if (owner === undefined || data === undefined) return "is cut off, or has an invalid name"
  if ((type === txt || type === cname) && kind !== internet) return "has records of another class"
  if (type === txt) {
    const text = textOf(data)
    if (text === undefined) return "has an invalid TXT record"
    texts.push([owner, text])
  }
  if (type === cname) {
    const inside = new Reader(reader.bytes, start)
    const target = nameAt(inside)
    if (target === undefined || inside.at !== reader.at) return "has an invalid alias"
    if (aliases.has(owner)) return "has two aliases for one name"
    aliases.set(owner, target)
  }
  return undefined
}

/**
 * Decodes a response to `question(name)`. The response may be forged by anyone who can reach the resolver or
 * owns a domain, so no input may make this function throw or take long.
 */
export const decode = (bytes: Uint8Array, name: string): Result.Result<Answer, DnsInvalid> => {
  if (bytes.length > maxBytes) return refuse("is too long")
  const reader = new Reader(bytes, 0)
  const [id, flags, questions, answers] = [
    reader.number(2),
    reader.number(2),
    reader.number(2),
    reader.number(2)
  ]
  if (reader.number(4) === undefined || flags === undefined || answers === undefined)
    return refuse("is cut off")
  if (id !== 0 || (flags & isResponse) === 0 || (flags & 0x7800) !== 0)
    return refuse("is not a response to a query")
  if ((flags & isTruncated) !== 0) return refuse("is truncated")
  if (answers > maxRecords) return refuse(`has more than ${maxRecords} records`)
  const wanted = latin1(Uint8Array.from(labelsOf(name.toLowerCase())))
  if (
    questions !== 1 ||
    nameAt(reader) !== wanted ||
    reader.number(2) !== txt ||
    reader.number(2) !== internet
  )
    return refuse("is for a different question")
  const records: Records = { aliases: new Map(), texts: [] }
  for (let i = 0; i < answers; i++) {
    const wrong = readRecord(reader, records)
    if (wrong !== undefined) return refuse(wrong)
  }
  let owner = wanted
  for (let followed = 0; ; followed++) {
    const target = records.aliases.get(owner)
    if (target === undefined) break
    if (followed === maxAliases) return refuse(`has more than ${maxAliases} aliases in a row`)
    owner = target
  }
  const texts = records.texts.flatMap(([of, text]) => (of === owner ? [text] : []))
  return Result.succeed({ code: flags & 0xf, isAuthenticated: (flags & isAuthentic) !== 0, texts })
}
