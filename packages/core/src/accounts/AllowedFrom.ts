import { Schema } from "effect"

/** The most ranges that a key can be limited to, and the longest text of one. */
export const maxRanges = 50
export const maxRangeCharacters = 43

/** An IP address: an IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is that IPv4 address. */
interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

interface Range extends Address {
  readonly prefix: number
}

const v4 = (text: string): bigint | undefined => {
  const parts = text.split(".")
  // A leading zero is octal to some programs, and decimal to others.
  if (parts.length !== 4 || parts.some((part) => !/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255)) return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

const groupsOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(":"))

const v6 = (text: string): bigint | undefined => {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const last = dotted?.[2] === undefined ? undefined : v4(dotted[2])
  if (dotted !== null && last === undefined) return undefined
  const whole = last === undefined ? text : `${dotted?.[1] ?? ""}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`
  const [head = "", tail, more] = whole.split("::")
  if (more !== undefined) return undefined
  const [before, after] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)]
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => "0"), ...after]
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

const addressOf = (text: string): Address | undefined => {
  const four = v4(text)
  if (four !== undefined) return { bits: 32, value: four }
  const six = v6(text)
  return six === undefined ? undefined : { bits: 128, value: six }
}

const mapped = 0xffffn << 32n

/** Of what maps IPv4, the IPv4 in it. */
const plain = (range: Range): Range =>
  range.bits === 128 && range.prefix >= 96 && (range.value & ~0xffffffffn) === mapped
    ? { bits: 32, value: range.value & 0xffffffffn, prefix: range.prefix - 96 }
    : range

const firstOf = ({ bits, value, prefix }: Range): bigint => (value >> BigInt(bits - prefix)) << BigInt(bits - prefix)

/** An address, or all that begin as it does for `/prefix` bits; text says why it is none. */
const rangeOf = (text: string): Range | string => {
  const [written = "", size, more] = text.split("/")
  const address = addressOf(written)
  if (address === undefined || more !== undefined) return "An IPv4 or IPv6 address, or a range such as 203.0.113.0/24 or 2001:db8::/32"
  const prefix = size === undefined ? address.bits : Number(size)
  if (size !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(size) || prefix > address.bits)) return `A prefix from /0 to /${address.bits}`
  const range = { ...address, prefix }
  // Bits beyond the prefix say something that a range cannot hold: perhaps one address was meant.
  return firstOf(range) === range.value ? plain(range) : `The address has bits beyond /${prefix}: write the first address of the range`
}

/** Why a text is no range of addresses, undefined where it is one. */
export const rangeIssue = (text: string): string | undefined => {
  const range = rangeOf(text)
  return typeof range === "string" ? range : undefined
}

/** From where a key may be used: these IPv4 and IPv6 addresses and ranges (CIDR), and for what it is refused from anywhere else. */
export const AllowedFrom = Schema.Struct({
  /** `sending`: what sends money or approves it. From elsewhere the key does the rest that its scopes allow. */
  for: Schema.Literals(["sending", "everything"]),
  ranges: Schema.Array(
    Schema.String.check(
      Schema.isMaxLength(maxRangeCharacters),
      Schema.makeFilter((text) => rangeIssue(text))
    )
  ).check(Schema.isMinLength(1), Schema.isMaxLength(maxRanges))
})
export interface AllowedFrom extends Schema.Schema.Type<typeof AllowedFrom> {}

const contains = (range: Range, { bits, value }: Address): boolean =>
  range.bits === bits && range.value === firstOf({ bits, value, prefix: range.prefix })

/** Whether a caller at this address may use the key. An address that is unknown, or none (`""`), is in no range. A range of IPv6 has no IPv4 in it, `::/0` included. */
export const has = ({ ranges }: AllowedFrom, address: string): boolean => {
  const found = rangeOf(address.replace(/%.*$/, ""))
  if (typeof found === "string" || found.prefix !== found.bits) return false
  return ranges.some((text) => {
    const range = rangeOf(text)
    return typeof range !== "string" && contains(range, found)
  })
}
