import * as Msat from "@satrail/bitcoin/Msat"
import type { Change } from "../src/service/Changes.ts"
import type { Balance } from "../src/ledger/Balance.ts"
import type { Account } from "../src/ledger/Change.ts"
import type { PayTerms } from "../src/nodes/Resolver.ts"
import type { Settings } from "../src/service/Policy.ts"
import { defaults } from "../src/service/Policy.ts"

export const settings: Settings = { ...defaults, network: "regtest", domain: "pay.example" }

export const fence = { taskId: "w", token: 1 } as const

export const payTerms = (fields: Partial<PayTerms> = {}): PayTerms => ({
  callback: "https://wallet.example/pay",
  min: Msat.fromSats(10),
  max: Msat.fromSats(1000),
  metadata: '[["text/plain","tea"]]',
  ...fields
})

/** The amounts that a Change adds to accounts or takes from them. Other accounts are omitted. */
export const moved = (change: Change): Partial<Record<Account, bigint>> => {
  const sums: Partial<Record<Account, bigint>> = {}
  for (const { from, to, amount } of change.legs.flatMap(({ postings }) => postings)) {
    sums[from] = (sums[from] ?? 0n) - amount
    sums[to] = (sums[to] ?? 0n) + amount
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

/** Returns a balance as plain numbers, for comparisons. */
export const plain = ({ posted, held }: Balance) => ({ posted: Number(posted), held: Number(held) })
