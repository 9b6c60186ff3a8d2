import * as IpAddress from "./IpAddress.ts"

/** A network that a caller belongs to. `times` is its share as a multiple of one caller's share. */
export interface Network {
  readonly name: string
  readonly times: number
}

/**
 * The networks in which an address is counted, from the widest to the narrowest. The narrowest is one caller:
 * an IPv4 address, or an IPv6 /64, which a provider assigns to one customer. Each wider network gets four
 * times the share of the next narrower one.
 */
export const widths = {
  ipv4: [
    { bits: 24, times: 4 },
    { bits: 32, times: 1 }
  ],
  ipv6: [
    { bits: 48, times: 16 },
    { bits: 56, times: 4 },
    { bits: 64, times: 1 }
  ]
} as const

const mapped = 0xffffn

const parsed = (address: string): IpAddress.Address | undefined => {
  const ip = IpAddress.parse(address)
  return ip?.bits === 128 && ip.value >> 32n === mapped ? { bits: 32, value: ip.value & 0xffffffffn } : ip
}

/** Returns the networks of an address, widest first. Text that is not an address counts as a separate caller. */
export const networks = (address: string): ReadonlyArray<Network> => {
  const ip = parsed(address)
  if (ip === undefined) return [{ name: address, times: 1 }]
  const family = ip.bits === 32 ? "ipv4" : "ipv6"
  return widths[family].map(({ bits, times }) => ({
    name: `${family}:${(ip.value >> BigInt(ip.bits - bits)).toString(16)}/${bits}`,
    times
  }))
}

/** Returns whether an address is a loopback address. */
export const isLoopback = (address: string): boolean => {
  const ip = parsed(address)
  return ip !== undefined && (ip.bits === 32 ? ip.value >> 24n === 127n : ip.value === 1n)
}
