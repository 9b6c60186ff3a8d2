import { assert, describe } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Result } from "effect"
import type * as CompanyId from "../src/base/CompanyId.ts"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import * as OnChainAddress from "../src/receiving/OnChainAddress.ts"
import { OnChainAddresses } from "../src/receiving/OnChainAddresses.ts"
import { Records } from "../src/service/Records.ts"
import { company, made, request, said, scenario } from "./World.ts"

const create = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  type: BitcoinAddress.AddressType = "taproot",
  key?: string,
  metadata = {}
) {
  const addresses = yield* OnChainAddresses
  return yield* addresses.create({
    companyId,
    type,
    metadata,
    ...(key !== undefined && { request: request(key) })
  })
})

describe("An on-chain address", () => {
  scenario(
    "on-chain address: a new address has the requested type, is for this network, and is never reused",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      const seen = new Set<string>()
      for (const { id } of [one, other, one]) {
        for (const [type, kind] of [
          ["taproot", "p2tr"],
          ["segwit", "p2wpkh"],
          ["nested_segwit", "p2sh"]
        ] as const) {
          const row = yield* made(create(id, type))
          const decoded = Result.getOrThrow(BitcoinAddress.decode(row.address, "regtest"))
          assert.deepStrictEqual(
            [decoded.kind, decoded.scriptPubKey, row.companyId, row.type],
            [kind, row.scriptPubKey, id, type]
          )
          seen.add(row.address).add(row.scriptPubKey)
        }
      }
      assert.strictEqual(seen.size, 18)
    }
  )

  scenario("on-chain address: an address is stored before it can be paid", function* () {
    const row = yield* made(create((yield* company()).id))
    yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
    const records = yield* Records
    const ours = (scripts: ReadonlyArray<string>) =>
      Effect.map(
        records.onChainAddresses(scripts),
        (rows) => new Set(rows.map(({ scriptPubKey }) => scriptPubKey))
      )
    const { outputs } = yield* (yield* ChainSource).activity(null, ours)
    assert.deepStrictEqual(
      outputs.map(({ scriptPubKey }) => scriptPubKey),
      [row.scriptPubKey]
    )
  })

  scenario("on-chain address: no address is created while the wallet is unavailable", function* () {
    const { id } = yield* company()
    yield* (yield* Sandbox).pause("chain")
    assert.strictEqual(yield* said(create(id)), "ChainUnavailable")
    assert.deepStrictEqual(yield* (yield* Records).newestFirst(OnChainAddress.noun, id, null, 10), [])
  })

  scenario(
    "C23: on-chain address: one address is created per idempotency key, even during a chain outage",
    function* () {
      const { id } = yield* company()
      const first = yield* made(create(id, "segwit", "k"))
      yield* (yield* Sandbox).pause("chain")
      assert.deepStrictEqual(yield* create(id, "segwit", "k"), { _tag: "Replayed", answer: first.id })
    }
  )

  scenario("on-chain address: metadata limits are enforced", function* () {
    const { id } = yield* company()
    assert.strictEqual(
      yield* said(create(id, "taproot", undefined, { k: "v".repeat(501) })),
      "Invalid: metadata.k"
    )
    assert.deepStrictEqual((yield* made(create(id, "taproot", undefined, { shelf: "3" }))).metadata, {
      shelf: "3"
    })
  })
})
