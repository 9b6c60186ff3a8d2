import { hex } from "@scure/base"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { assert, describe, it } from "@effect/vitest"
import * as Payout from "../src/sending/Payout.ts"

// BIP 143 examples for the coin types of our wallet. Each is signed like a payout: written as a PSBT, parsed
// again, and signed by the key it names.

const fingerprint = 0x73c5da0a
const path = [84, 0, 0]

interface Example {
  readonly unsigned: string
  readonly input: number
  readonly scriptPubKey: string
  readonly sats: bigint
  readonly publicKey: string
  readonly privateKey: string
  readonly redeemScript?: string
  /** The output spent by input 0, if that output belongs to another wallet. */
  readonly first?: { readonly scriptPubKey: string; readonly sats: bigint }
}

/** An example's PSBT as a signer receives it. */
const psbtOf = ({ unsigned, input, scriptPubKey, sats, publicKey, redeemScript, first }: Example): string => {
  const tx = Transaction.fromRaw(hex.decode(unsigned), { allowUnknownInputs: true, disableScriptCheck: true })
  if (first !== undefined)
    tx.updateInput(0, { witnessUtxo: { amount: first.sats, script: hex.decode(first.scriptPubKey) } })
  tx.updateInput(input, {
    witnessUtxo: { amount: sats, script: hex.decode(scriptPubKey) },
    bip32Derivation: [[hex.decode(publicKey), { fingerprint, path }]],
    ...(redeemScript !== undefined && { redeemScript: hex.decode(redeemScript) })
  })
  return Payout.toPsbt(tx)
}

const signed = (example: Example): Transaction => {
  const tx = Payout.fromPsbt(psbtOf(example))
  Payout.signInput(tx, example.input, fingerprint, (asked) => {
    assert.deepStrictEqual(asked, path)
    return hex.decode(example.privateKey)
  })
  tx.finalizeIdx(example.input)
  return tx
}

const native: Example = {
  unsigned:
    "0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000",
  input: 1,
  scriptPubKey: "00141d0f172a0ecb48aee1be1f2687d2963ae33f71a1",
  sats: 600_000_000n,
  publicKey: "025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee6357",
  privateKey: "619c335025c7f4012e556c2a58b2506e30b8511b53ade95ea316fd8c3286feb9",
  first: {
    scriptPubKey: "2103c9f4836b9a4f77fc0d81f7bcb01b7f1b35916864b9476c241ce9fc198bd25432ac",
    sats: 625_000_000n
  }
}

const nested: Example = {
  unsigned:
    "0100000001db6b1b20aa0fd7b23880be2ecbd4a98130974cf4748fb66092ac4d3ceb1a54770100000000feffffff02b8b4eb0b000000001976a914a457b684d7f0d539a46a45bbc043f35b59d0d96388ac0008af2f000000001976a914fd270b1ee6abcaea97fea7ad0402e8bd8ad6d77c88ac92040000",
  input: 0,
  scriptPubKey: "a9144733f37cf4db86fbc2efed2500b4f4e49f31202387",
  sats: 1_000_000_000n,
  publicKey: "03ad1d8e89212f0b92c74d23bb710c00662ad1470198ac48c43f7d6f93a2a26873",
  privateKey: "eb696a065ef48a2192da5b28b694f87544b30fae8327c4510137a922f32c6dcf",
  redeemScript: "001479091972186c449eb1ded22b78e40d009bdf0089"
}

describe("BIP 143, native P2WPKH", () => {
  it("BIP 143, P2WPKH: the witness matches the example", () => {
    const [signature, publicKey] = signed(native).getInput(native.input).finalScriptWitness ?? []
    assert.strictEqual(
      hex.encode(signature ?? new Uint8Array()),
      "304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee01"
    )
    assert.strictEqual(hex.encode(publicKey ?? new Uint8Array()), native.publicKey)
  })
})

describe("BIP 143, P2SH-P2WPKH", () => {
  it("BIP 143: the finished transaction and its id match the example (BIP 141, BIP 144)", () => {
    assert.deepStrictEqual(Payout.serialised(signed(nested)), {
      txId: "ef48d9d0f595052e0f8cdcf825f7a5e50b6a388a81f206f3f4846e5ecd7a0c23",
      rawTx:
        "01000000000101db6b1b20aa0fd7b23880be2ecbd4a98130974cf4748fb66092ac4d3ceb1a5477010000001716001479091972186c449eb1ded22b78e40d009bdf0089feffffff02b8b4eb0b000000001976a914a457b684d7f0d539a46a45bbc043f35b59d0d96388ac0008af2f000000001976a914fd270b1ee6abcaea97fea7ad0402e8bd8ad6d77c88ac02473044022047ac8e878352d3ebbde1c94ce3a10d057c24175747116f8288e5d794d12d482f0220217f36a485cae903c713331d877c1f64677e3622ad4010726870540656fe9dcb012103ad1d8e89212f0b92c74d23bb710c00662ad1470198ac48c43f7d6f93a2a2687392040000"
    })
  })
})

describe("A signer", () => {
  it("BIP 143: the wallet signs only with its own keys and only for the whole transaction", () => {
    for (const example of [native, nested]) {
      const other = Payout.fromPsbt(psbtOf(example))
      assert.throws(
        () => Payout.signInput(other, example.input, fingerprint + 1, () => hex.decode(example.privateKey)),
        "contains no key"
      )
      for (const sighashType of [2, 3, 0x81]) {
        const tx = Payout.fromPsbt(psbtOf(example))
        tx.updateInput(example.input, { sighashType })
        assert.throws(
          () => Payout.signInput(tx, example.input, fingerprint, () => hex.decode(example.privateKey)),
          /sighash/i
        )
      }
    }
  })
})
