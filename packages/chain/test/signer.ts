import { base64 } from "@scure/base"
import { HDKey } from "@scure/bip32"
import { entropyToMnemonic, mnemonicToSeedSync } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"

// An external signer such as an operator might write. It reads a PSBT, signs every input, and writes the PSBT.
// Its seed is the one in Ours.ts. It imports none of our code, so it starts in a fifth of the time.
// With "other", it signs an amount other than the requested one. With "final", it also finalizes the inputs.
// With "forged" and an index, the signature of that input is wrong. With "explicit", the first signature, of a taproot
// input, states in a 65th byte that it covers everything. With "none" and an index, the signature of that input covers no
// output. With "script" and an index, that input has a wrong scriptSig.
const [, , behaviour = "honest"] = process.argv
const master = HDKey.fromMasterSeed(
  mnemonicToSeedSync(entropyToMnemonic(new Uint8Array(32).fill(1), wordlist))
)
const tx = Transaction.fromPSBT(base64.decode((await text(process.stdin)).trim()), {
  disableScriptCheck: true
})
if (behaviour === "other") tx.updateOutput(0, { amount: 1000n })
if (behaviour === "broken") process.exit(3)
if (behaviour === "silent") await setTimeout(60_000)
const keyAt = (path: ReadonlyArray<number>) =>
  path.reduce((key, step) => key.deriveChild(step), master).privateKey
const noRandomness = new Uint8Array(32)
const sign = (at: number, sighashes: Array<number> | undefined) => {
  const { bip32Derivation, tapBip32Derivation } = tx.getInput(at)
  const derivation = tapBip32Derivation?.[0]?.[1].der ?? bip32Derivation?.[0]?.[1]
  if (derivation?.fingerprint !== master.fingerprint)
    throw new Error(`Input ${at} contains no key of this signer`)
  tx.signIdx(keyAt(derivation.path) ?? new Uint8Array(), at, sighashes, noRandomness)
}
const [everything, noOutput] = [1, 2]
const [, uncovered] = /^none (\d)$/.exec(behaviour) ?? []
for (let at = 0; at < tx.inputsLength; at++) {
  const sighashType =
    uncovered === String(at) ? noOutput : behaviour === "explicit" && at === 0 ? everything : undefined
  if (sighashType !== undefined) tx.updateInput(at, { sighashType })
  sign(at, sighashType === undefined ? undefined : [sighashType])
}
if (behaviour === "final") tx.finalize()
if (behaviour === "partly final") tx.finalizeIdx(1)
const [, forged] = /^forged (\d)$/.exec(behaviour) ?? []
if (forged !== undefined) {
  tx.finalize()
  const [signature = new Uint8Array(), ...rest] = tx.getInput(Number(forged)).finalScriptWitness ?? []
  const finalScriptWitness = [signature.with(20, (signature[20] ?? 0) ^ 1), ...rest]
  tx.updateInput(Number(forged), { finalScriptWitness }, true)
}
const [, scripted] = /^script (\d)$/.exec(behaviour) ?? []
if (scripted !== undefined) {
  tx.finalize()
  const { finalScriptSig = Uint8Array.of(0) } = tx.getInput(Number(scripted))
  const pushData1 = 0x4c
  tx.updateInput(Number(scripted), { finalScriptSig: Uint8Array.of(pushData1, ...finalScriptSig) }, true)
}
process.stdout.write(`${base64.encode(tx.toPSBT())}\n`)
