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

/**
 * Wider networks, each usually of one provider. They are counted only to find the largest holder, and in the
 * reserve of a shared rate. Otherwise they have no share of their own, because a provider has many customers.
 */
export const providers = {
  ipv4: [
    { bits: 8, times: 64 },
    { bits: 16, times: 16 }
  ],
  ipv6: [
    { bits: 24, times: 256 },
    { bits: 32, times: 64 }
  ]
} as const

const mapped = 0xffffn

const parsed = (address: string): IpAddress.Address | undefined => {
  const ip = IpAddress.parse(address)
  return ip?.bits === 128 && ip.value >> 32n === mapped ? { bits: 32, value: ip.value & 0xffffffffn } : ip
}

interface Width extends Pick<Network, "times"> {
  readonly bits: number
}

/** Returns an address's networks of these widths. Text that is not an address counts as a separate caller. */
const within = (
  address: string,
  widths: { readonly [family in "ipv4" | "ipv6"]: ReadonlyArray<Width> }
): ReadonlyArray<Network> => {
  const ip = parsed(address)
  if (ip === undefined) return [{ name: address, times: 1 }]
  const family = ip.bits === 32 ? "ipv4" : "ipv6"
  return widths[family].map(({ bits, times }) => ({
    name: `${family}:${(ip.value >> BigInt(ip.bits - bits)).toString(16)}/${bits}`,
    times
  }))
}

/** Returns the networks in which an address's requests are counted, widest first. */
export const networks = (address: string): ReadonlyArray<Network> => within(address, widths)

/** Returns the networks in which an address's slots are counted, widest first. Those of providers have no share. */
export const slotNetworks = (address: string): ReadonlyArray<Omit<Network, "times"> & Partial<Network>> => [
  ...within(address, providers).map(({ name }) => ({ name })),
  ...networks(address)
]

const newcomer = {
  ipv4: [...providers.ipv4, { bits: widths.ipv4[0].bits, times: 1 }],
  ipv6: [...providers.ipv6, { bits: widths.ipv6[0].bits, times: 1 }]
}

/** Returns the networks in which an address counts as a newcomer: its /24 or /48, with a share of 1, and its provider's. */
export const newcomerNetworks = (address: string): ReadonlyArray<Network> => within(address, newcomer)

/** Returns whether an address is a loopback address. */
export const isLoopback = (address: string): boolean => {
  const ip = parsed(address)
  return ip !== undefined && (ip.bits === 32 ? ip.value >> 24n === 127n : ip.value === 1n)
}
