import { assert, it } from "@effect/vitest"
import * as Output from "../src/client/Output.ts"

it("command line: a payer's text cannot break a line, send codes to the terminal, or reverse what follows", () => {
  const text = "tea\n  forged \u001b[2J \u009b1m \u202egnp"
  const shown = String.raw`tea\u000a  forged \u001b[2J \u009b1m \u202egnp`
  assert.strictEqual(Output.forPeople("Payer", { comment: text }), `Payer\n  comment      ${shown}`)
  assert.include(Output.forPeople("Payer", { payer: { name: text } }), String.raw`\u009b1m \u202e`)
  for (const out of [Output.rows([{ memo: text }], ["memo"]), Output.table([["memo"], [text]])])
    assert.strictEqual(out, `  memo\n  ${shown}`)
})

it("command line: text in any language, and emoji of several characters, are shown unchanged", () => {
  const text = "Käse שלום 👩‍👩‍👧"
  assert.strictEqual(Output.cell(text), text)
})

it("command line: each reason of an error is printed once", () => {
  const database = new Error("reason", {
    cause: new Error("the disk is full", { cause: new Error("the disk is full") })
  })
  const of = (cause: Error) => Output.failed(cause).message
  assert.strictEqual(
    of(new Error("It failed", { cause: database })),
    "It failed\n  reason\n  the disk is full"
  )
  assert.strictEqual(
    of(new Error("It failed: the disk is full", { cause: database })),
    "It failed: the disk is full\n  reason"
  )
})
