import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"
import * as IpAddress from "../base/IpAddress.ts"

/** Maximum number of ranges per key, and maximum length of a range's text. */
export const maxRanges = 50
export const maxRangeCharacters = 43

interface Range extends IpAddress.Address {
  readonly prefix: number
}

const mapped = 0xffffn << 32n

/** Converts an IPv4 address written as IPv6 (`::ffff:192.0.2.1`) to IPv4. */
const plain = (range: Range): Range =>
  range.bits === 128 && range.prefix >= 96 && (range.value & ~0xffffffffn) === mapped
    ? { bits: 32, value: range.value & 0xffffffffn, prefix: range.prefix - 96 }
    : range

const firstOf = ({ bits, value, prefix }: Range): bigint =>
  (value >> BigInt(bits - prefix)) << BigInt(bits - prefix)

/** Parses an address or a CIDR range. If the text is invalid, returns the reason as a string. */
const rangeOf = (text: string): Range | string => {
  const [written = "", size, more] = text.split("/")
  const address = IpAddress.parse(written)
  if (address === undefined || more !== undefined)
    return "must be an IPv4 or IPv6 address, or a range such as 203.0.113.0/24 or 2001:db8::/32"
  const prefix = size === undefined ? address.bits : Number(size)
  if (size !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(size) || prefix > address.bits))
    return `must have a prefix between /0 and /${address.bits}`
  const range = { ...address, prefix }
  // Reject nonzero bits after the prefix, because the caller may have meant a single address.
  return firstOf(range) === range.value
    ? plain(range)
    : `must not have bits beyond /${prefix}: use the first address of the range`
}

/** Returns why a string is not an address range; undefined if it is one. */
export const rangeIssue = (text: string): string | undefined => {
  const range = rangeOf(text)
  return typeof range === "string" ? range : undefined
}

/**
 * IPv4 and IPv6 addresses and ranges (CIDR) to which a key is limited, for everything or only for sending.
 */
export const AllowedFrom = Schema.Struct({
  /**
   * `sending`: only sending and approving are limited to these addresses. From any other address, the key can
   * use its other scopes.
   */
  for: Schema.Literals(["sending", "everything"]),
  ranges: Schema.Array(
    Schema.String.check(
      Characters.atMost(maxRangeCharacters),
      Schema.makeFilter((text) => rangeIssue(text), {
        toJsonSchema: () => ({ pattern: "^[0-9A-Fa-f:.]+(?:/[0-9]{1,3})?$" })
      })
    )
  ).check(Schema.isMinLength(1), Schema.isMaxLength(maxRanges))
})
export interface AllowedFrom extends Schema.Schema.Type<typeof AllowedFrom> {}

const contains = (range: Range, { bits, value }: IpAddress.Address): boolean =>
  range.bits === bits && range.value === firstOf({ bits, value, prefix: range.prefix })

/**
 * Returns whether a caller at this address may use the key. An unknown or empty address is in no range. No IPv6
 * range contains an IPv4 address, not even `::/0`.
 */
export const has = ({ ranges }: AllowedFrom, address: string): boolean => {
  const found = rangeOf(address.replace(/%.*$/, ""))
  if (typeof found === "string" || found.prefix !== found.bits) return false
  return ranges.some((text) => {
    const range = rangeOf(text)
    return typeof range !== "string" && contains(range, found)
  })
}

/** Returns whether `after` allows an operation from an address that `before` did not allow. */
export const loosens = (before: AllowedFrom | null, after: AllowedFrom | null): boolean => {
  if (before === null) return false
  if (after === null || (before.for === "everything" && after.for === "sending")) return true
  const [old, next] = [before, after].map(({ ranges }) =>
    ranges.map(rangeOf).filter((range) => typeof range !== "string")
  )
  return !next?.every((range) => old?.some((wider) => wider.prefix <= range.prefix && contains(wider, range)))
}
