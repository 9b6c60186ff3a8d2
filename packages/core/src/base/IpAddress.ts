/** An IP address as a number. */
export interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

const v4 = (text: string): bigint | undefined => {
  const parts = text.split(".")
  // Reject leading zeros, because some programs read such numbers as octal and others as decimal.
  if (parts.length !== 4 || parts.some((part) => !/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255))
    return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

const groupsOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(":"))

const v6 = (text: string): bigint | undefined => {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const last = dotted?.[2] === undefined ? undefined : v4(dotted[2])
  if (dotted !== null && last === undefined) return undefined
  const whole =
    last === undefined
      ? text
      : `${dotted?.[1] ?? ""}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`
  const [head = "", tail, more] = whole.split("::")
  if (more !== undefined) return undefined
  const [before, after] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)]
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => "0"), ...after]
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

/** Parses an IPv4 or IPv6 address; undefined for other text. */
export const parse = (text: string): Address | undefined => {
  const four = v4(text)
  if (four !== undefined) return { bits: 32, value: four }
  const six = v6(text)
  return six === undefined ? undefined : { bits: 128, value: six }
}
