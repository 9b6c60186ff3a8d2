import { hex } from "@scure/base"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { assert, describe, it } from "@effect/vitest"
import * as Payout from "../src/sending/Payout.ts"

// wallet-test-vectors.json of BIP 341, for a wallet that uses only key path spending and signs the whole
// transaction.

const unsigned =
  "02000000097de20cbff686da83a54981d2b9bab3586f4ca7e48f57f5b55963115f3b334e9c010000000000000000d7b7cab57b1393ace2d064f4d4a2cb8af6def61273e127517d44759b6dafdd990000000000fffffffff8e1f583384333689228c5d28eac13366be082dc57441760d957275419a418420000000000fffffffff0689180aa63b30cb162a73c6d2a38b7eeda2a83ece74310fda0843ad604853b0100000000feffffffaa5202bdf6d8ccd2ee0f0202afbbb7461d9264a25e5bfd3c5a52ee1239e0ba6c0000000000feffffff956149bdc66faa968eb2be2d2faa29718acbfe3941215893a2a3446d32acd050000000000000000000e664b9773b88c09c32cb70a2a3e4da0ced63b7ba3b22f848531bbb1d5d5f4c94010000000000000000e9aa6b8e6c9de67619e6a3924ae25696bb7b694bb677a632a74ef7eadfd4eabf0000000000ffffffffa778eb6a263dc090464cd125c466b5a99667720b1c110468831d058aa1b82af10100000000ffffffff0200ca9a3b000000001976a91406afd46bcdfd22ef94ac122aa11f241244a37ecc88ac807840cb0000000020ac9a87f5594be208f8532db38cff670c450ed2fea8fcdefcc9a663f78bab962b0065cd1d"

const spent: ReadonlyArray<readonly [scriptPubKey: string, sats: bigint]> = [
  ["512053a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343", 420_000_000n],
  ["5120147c9c57132f6e7ecddba9800bb0c4449251c92a1e60371ee77557b6620f3ea3", 462_000_000n],
  ["76a914751e76e8199196d454941c45d1b3a323f1433bd688ac", 294_000_000n],
  ["5120e4d810fd50586274face62b8a807eb9719cef49c04177cc6b76a9a4251d5450e", 504_000_000n],
  ["512091b64d5324723a985170e4dc5a0f84c041804f2cd12660fa5dec09fc21783605", 630_000_000n],
  ["00147dd65592d0ab2fe0d0257d571abf032cd9db93dc", 378_000_000n],
  ["512075169f4001aa68f15bbed28b218df1d0a62cbbcf1188c6665110c293c907b831", 672_000_000n],
  ["5120712447206d7a5238acc7ff53fbe94a3b64539ad291c7cdbc490b7577e4b17df5", 546_000_000n],
  ["512077e30a5522dd9f894c3f8b8bd4c4b2cf82ca7da8a3ea6a239655c39c050ab220", 588_000_000n]
]

const fingerprint = 0x73c5da0a
const path = [86, 0, 0]
const key = hex.decode("e0dfe2300b0dd746a3f8674dfd4525623639042569d829c7f0eed9602d263e6f")

/** The vectors' transaction with everything needed to sign input 4. */
const drafted = (): Transaction => {
  const tx = Transaction.fromRaw(hex.decode(unsigned), {
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
    disableScriptCheck: true
  })
  for (const [at, [script, amount]] of spent.entries())
    tx.updateInput(at, { witnessUtxo: { amount, script: hex.decode(script) } })
  tx.updateInput(4, {
    tapInternalKey: key,
    tapMerkleRoot: hex.decode("ccbd66c6f7e8fdab47b3a486f59d28262be857f30d4773f2d5ea47f7761ce0e2"),
    tapBip32Derivation: [[key, { hashes: [], der: { fingerprint, path } }]]
  })
  return tx
}

const sign = (tx: Transaction) =>
  Payout.signInput(tx, 4, fingerprint, (asked) => {
    assert.deepStrictEqual(asked, path)
    return hex.decode("f36bb07a11e469ce941d16b63b11b9b9120a84d9d87cff2c84a8d4affb438f4e")
  })

describe("BIP 341, key path spending", () => {
  it("BIP 341: when input 4 is signed for the whole transaction, its witness matches the vectors", () => {
    const tx = drafted()
    sign(tx)
    tx.finalizeIdx(4)
    assert.deepStrictEqual(
      (tx.getInput(4).finalScriptWitness ?? []).map((part) => hex.encode(part)),
      [
        "b4010dd48a617db09926f729e79c33ae0b4e94b79f04a1ae93ede6315eb3669de185a17d2b0ac9ee09fd4c64b678a0b61a0a86fa888a273c8511be83bfd6810f"
      ]
    )
  })

  it("BIP 341: the wallet refuses to sign for less than the whole transaction, whatever a PSBT requests", () => {
    for (const sighashType of [2, 3, 0x81, 0x82, 0x83]) {
      const tx = drafted()
      tx.updateInput(4, { sighashType })
      assert.throws(() => sign(tx), /sighash/i)
    }
  })
})
