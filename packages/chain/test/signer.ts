import * as Payout from "@satrail/core/sending/Payout"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import * as Seed from "../src/Seed.ts"
import { words } from "./Ours.ts"

// An external signer such as an operator might write. It reads a PSBT, signs every input, and writes the PSBT.
// With "other", it signs an amount other than the requested one. With "final", it also finalizes the inputs.
const [, , behaviour = "honest"] = process.argv
const master = Seed.master(words, "regtest")
const tx = Payout.fromPsbt((await text(process.stdin)).trim())
if (behaviour === "other") tx.updateOutput(0, { amount: 1000n })
if (behaviour === "broken") process.exit(3)
if (behaviour === "silent") await setTimeout(60_000)
for (let at = 0; at < tx.inputsLength; at++) {
  Payout.signInput(tx, at, master.fingerprint, (path) => Seed.present(master.derive(Seed.written(path)).privateKey))
}
if (behaviour === "final") tx.finalize()
if (behaviour === "partly final") tx.finalizeIdx(1)
process.stdout.write(`${Payout.toPsbt(tx)}\n`)
