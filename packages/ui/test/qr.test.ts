import { assert, it } from "@effect/vitest"

// Imported without their types, which would bring those of the DOM into the other tests.
const names = ["preact", "preact-render-to-string", new URL("../src/checkout/Qr.ts", import.meta.url).href]
const [{ h }, { render }, { Qr }] = await Promise.all(names.map((name) => import(name)))

it("QR code: an invoice with the longest description takes 101 modules per side, because it is encoded in upper case", () => {
  const text = `lightning:${"lnbc1".padEnd(1277, "q")}`
  const [, size] = /viewBox="1 1 (\d+)/.exec(render(h(Qr, { text, label: "" }))) ?? []
  assert.strictEqual(Number(size), 101)
})
