import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"
import * as IpAddress from "../base/IpAddress.ts"

/** The most ranges that a key can be limited to, and the longest text of one. */
export const maxRanges = 50
export const maxRangeCharacters = 43

interface Range extends IpAddress.Address {
  readonly prefix: number
}

const mapped = 0xffffn << 32n

/** An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is that IPv4 address. */
const plain = (range: Range): Range =>
  range.bits === 128 && range.prefix >= 96 && (range.value & ~0xffffffffn) === mapped
    ? { bits: 32, value: range.value & 0xffffffffn, prefix: range.prefix - 96 }
    : range

const firstOf = ({ bits, value, prefix }: Range): bigint => (value >> BigInt(bits - prefix)) << BigInt(bits - prefix)

/** An address, or all that begin as it does for `/prefix` bits; text says why it is none. */
const rangeOf = (text: string): Range | string => {
  const [written = "", size, more] = text.split("/")
  const address = IpAddress.parse(written)
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
      Characters.atMost(maxRangeCharacters),
      Schema.makeFilter((text) => rangeIssue(text), { toJsonSchema: () => ({ pattern: "^[0-9A-Fa-f:.]+(?:/[0-9]{1,3})?$" }) })
    )
  ).check(Schema.isMinLength(1), Schema.isMaxLength(maxRanges))
})
export interface AllowedFrom extends Schema.Schema.Type<typeof AllowedFrom> {}

const contains = (range: Range, { bits, value }: IpAddress.Address): boolean =>
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

/** Whether the key could do something from somewhere under `after` that it could not under `before`. */
export const loosens = (before: AllowedFrom | null, after: AllowedFrom | null): boolean => {
  if (before === null) return false
  if (after === null || (before.for === "everything" && after.for === "sending")) return true
  const [old, next] = [before, after].map(({ ranges }) => ranges.map(rangeOf).filter((range) => typeof range !== "string"))
  return !next?.every((range) => old?.some((wider) => wider.prefix <= range.prefix && contains(wider, range)))
}
