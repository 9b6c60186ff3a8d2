import * as Chain from "@satrail/sandbox/Chain"
import { HashMap } from "effect"
import { hashOf } from "../src/Block.ts"

const varint = (count: number) =>
  count < 0xfd ? Buffer.of(count) : Buffer.of(0xfd, count & 0xff, count >> 8)

/** The time of the simulated block at this height. */
export const timeSecondsAt = (height: number): number => 1_700_000_000 + height * 600

/**
 * The sandbox's blocks have no proof of work, and no headers that match their hashes. Here, each block gets a
 * header and is identified by that header's hash.
 */
export const make = () => {
  const headers = new Map<string, Buffer>()

  const headerAt = (chain: Chain.State, height: number): Buffer => {
    const block = HashMap.getUnsafe(chain.blocks, height)
    const found = headers.get(block.hash)
    if (found !== undefined) return found
    const header = Buffer.alloc(80)
    if (height > 0) header.set(Buffer.from(hashOf(headerAt(chain, height - 1)), "hex").toReversed(), 4)
    Buffer.from(block.hash, "hex").copy(header, 36)
    header.writeUInt32LE(timeSecondsAt(height), 68)
    headers.set(block.hash, header)
    return header
  }

  const hashAt = (chain: Chain.State, height: number): string | undefined =>
    height <= chain.tip.height ? hashOf(headerAt(chain, height)) : undefined

  return {
    hashAt,
    heightOf: (chain: Chain.State, hash: string): number | undefined => {
      for (let height = chain.tip.height; height >= 0; height--)
        if (hashAt(chain, height) === hash) return height
      return undefined
    },
    raw: (chain: Chain.State, height: number): Buffer => {
      const { txIds } = HashMap.getUnsafe(chain.blocks, height)
      const raw = txIds.map((txId) => Buffer.from(Chain.transaction(chain, txId)?.rawTx ?? "", "hex"))
      return Buffer.concat([headerAt(chain, height), varint(raw.length), ...raw])
    }
  }
}
