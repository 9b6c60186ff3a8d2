import { BlockList, isIP } from "node:net"

// The addresses in IANA's special-purpose registries (RFC 6890), and multicast. Some of them are routed (AS112,
// AMT, 6to4 relays), but no payment service runs there.
const special4: ReadonlyArray<readonly [network: string, prefix: number]> = [
  ["0.0.0.0", 8], // "this network" (RFC 791)
  ["10.0.0.0", 8], // private (RFC 1918)
  ["100.64.0.0", 10], // carriers' NAT (RFC 6598), and Alibaba's metadata at 100.100.100.200
  ["127.0.0.0", 8], // loopback (RFC 1122)
  ["168.63.129.16", 32], // Azure's host services, such as metadata, on a public address
  ["169.254.0.0", 16], // link local (RFC 3927), and most clouds' metadata
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments (RFC 6890), and Oracle's metadata
  ["192.0.2.0", 24], // documentation (RFC 5737)
  ["192.31.196.0", 24], // AS112 (RFC 7535)
  ["192.52.193.0", 24], // AMT (RFC 7450)
  ["192.88.99.0", 24], // relays of 6to4 (RFC 7526)
  ["192.168.0.0", 16], // private
  ["192.175.48.0", 24], // AS112 (RFC 7534)
  ["198.18.0.0", 15], // benchmarks (RFC 2544)
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast (RFC 5771)
  ["240.0.0.0", 4] // reserved (RFC 1112), and broadcast
]

// All allocated IPv6 addresses are in 2000::/3 (RFC 4291, section 2.4). This range excludes mapped and
// translated IPv4 (::ffff:0:0/96, 64:ff9b::/96), unique local, link local and multicast addresses.
// Special-purpose addresses within it are listed here.
const global6 = ["2000::", 3] as const
const special6: ReadonlyArray<readonly [network: string, prefix: number]> = [
  ["2001::", 23], // protocol assignments (RFC 2928): Teredo, benchmarks, ORCHID, AMT
  ["2001:db8::", 32], // documentation (RFC 3849)
  ["2002::", 16], // 6to4 (RFC 3056)
  ["2620:4f:8000::", 48], // AS112 (RFC 7534)
  ["3fff::", 20] // documentation (RFC 9637)
]

const blocks = (
  family: "ipv4" | "ipv6",
  subnets: ReadonlyArray<readonly [network: string, prefix: number]>
) => {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
  return list
}
const refused4 = blocks("ipv4", special4)
const refused6 = blocks("ipv6", special6)
const given6 = blocks("ipv6", [global6])

/** Returns whether an IP address is public: not loopback, private or reserved. */
export const is = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !refused4.check(address, "ipv4")
    case 6:
      // An address with a zone is link local.
      return !address.includes("%") && given6.check(address, "ipv6") && !refused6.check(address, "ipv6")
    default:
      return false
  }
}
