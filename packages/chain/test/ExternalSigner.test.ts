import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as ExternalSigner from "../src/ExternalSigner.ts"
import * as HotSigner from "../src/HotSigner.ts"
import { psbt, words } from "./Ours.ts"

const program = fileURLToPath(new URL("signer.ts", import.meta.url))
const signer = (behaviour: string, patienceMillis = 600_000) =>
  ExternalSigner.make({ command: process.execPath, args: [program, behaviour], patienceMillis })

describe("a signer in another process", () => {
  for (const [behaviour, which] of [
    ["honest", "leaves them to us to finalize"],
    ["final", "finalizes all of them, as Bitcoin Core does"],
    ["partly final", "finalizes some of them"]
  ] as const) {
    it.live(
      `external signer: the signatures are those of keys in the process, from a program that ${which}`,
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(
            yield* signer(behaviour).sign(psbt),
            yield* HotSigner.make(words, "regtest").sign(psbt)
          )
        })
    )
  }

  it.live("external signer: a taproot signature of 65 bytes is accepted", () =>
    Effect.gen(function* () {
      const [given, usual] = [
        yield* signer("explicit").sign(psbt),
        yield* HotSigner.make(words, "regtest").sign(psbt)
      ]
      assert.deepStrictEqual([given.txId, given.rawTx.length], [usual.txId, usual.rawTx.length + 2])
    })
  )

  for (const [behaviour, words] of [
    ["other", /signed a different transaction/],
    ["forged 0", /wrong signature for input 0/],
    ["forged 1", /wrong signature for input 1/],
    ["forged 2", /wrong signature for input 2/],
    ["none 0", /wrong signature for input 0/],
    ["none 1", /wrong signature for input 1/],
    ["none 2", /wrong signature for input 2/],
    ["script 0", /wrong signature for input 0/],
    ["script 1", /wrong signature for input 1/],
    ["script 2", /wrong signature for input 2/],
    ["broken", /status 3/]
  ] as const) {
    it.live(`external signer: with behavior "${behaviour}", nothing is signed`, () =>
      Effect.gen(function* () {
        const { cause } = yield* Effect.flip(signer(behaviour).sign(psbt))
        assert.match(String(cause), words)
      })
    )
  }

  it.live("external signer: a signer that times out or does not exist causes an error", () =>
    Effect.gen(function* () {
      assert.match(String((yield* Effect.flip(signer("silent", 300).sign(psbt))).cause), /SIGKILL/)
      const missing = ExternalSigner.make({ command: "/nowhere/signer" })
      assert.match(String((yield* Effect.flip(missing.sign(psbt))).cause), /ENOENT/)
    })
  )

  it.live("external signer: a script that times out is ended together with the program that it started", () =>
    Effect.gen(function* () {
      // The error comes when the last program with the script's output has ended.
      const script = ExternalSigner.make({
        command: "sh",
        args: ["-c", "sleep 600; true"],
        patienceMillis: 300
      })
      assert.match(String((yield* Effect.flip(script.sign(psbt))).cause), /SIGKILL/)
    })
  )
})
