import * as Payout from "@satrail/core/sending/Payout"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import * as Seed from "../src/Seed.ts"
import { words } from "./Ours.ts"

// An external signer such as an operator might write. It reads a PSBT, signs every input, and writes the PSBT.
// With "other", it signs an amount other than the requested one. With "final", it also finalizes the inputs.
// With "forged" and an index, the signature of that input is wrong. With "explicit", the first signature, of a taproot
// input, states in a 65th byte that it covers everything. With "script" and an index, that input has a wrong scriptSig.
const [, , behaviour = "honest"] = process.argv
const master = Seed.master(words, "regtest")
const tx = Payout.fromPsbt((await text(process.stdin)).trim())
if (behaviour === "other") tx.updateOutput(0, { amount: 1000n })
if (behaviour === "broken") process.exit(3)
if (behaviour === "silent") await setTimeout(60_000)
const keyAt = (path: ReadonlyArray<number>) => Seed.present(master.derive(Seed.written(path)).privateKey)
const first = behaviour === "explicit" ? 1 : 0
if (behaviour === "explicit") {
  const everything = 1
  tx.updateInput(0, { sighashType: everything })
  tx.signIdx(keyAt(tx.getInput(0).tapBip32Derivation?.[0]?.[1].der.path ?? []), 0, [everything])
}
for (let at = first; at < tx.inputsLength; at++) Payout.signInput(tx, at, master.fingerprint, keyAt)
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
process.stdout.write(`${Payout.toPsbt(tx)}\n`)
