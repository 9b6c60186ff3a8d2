import { randomBytes } from "node:crypto"

const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [128 | (value & 127), ...varint(value >> 7)]
const packet = (type: number, value: Buffer) => Buffer.from([type, ...varint(value.length), ...value])
const field = (number: number, value: Buffer | string) => packet((number << 3) | 2, Buffer.from(value))

/** A macaroon in lnd's format (libmacaroons "v2") that permits these calls, in hex. No node accepts it. */
export const make = (calls: ReadonlyArray<{ readonly uri: string }>): string => {
  const operations = calls.map(({ uri }) => field(3, Buffer.concat([field(1, "uri"), field(2, uri)])))
  const identifier = Buffer.concat([
    Buffer.from([3]),
    field(1, randomBytes(16)),
    field(2, "0"),
    ...operations
  ])
  const packets = [
    packet(1, Buffer.from("lnd")),
    packet(2, identifier),
    Buffer.from([0, 0]),
    packet(6, randomBytes(32))
  ]
  return Buffer.concat([Buffer.from([2]), ...packets]).toString("hex")
}
