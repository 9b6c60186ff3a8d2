import { assert, it } from "@effect/vitest"

// Imported without their types, which would bring those of the DOM into the other tests.
const names = ["preact", "preact-render-to-string", new URL("../src/checkout/Qr.ts", import.meta.url).href]
const [{ h }, { render }, { Qr }] = await Promise.all(names.map((name) => import(name)))

it("QR code: the scheme of a Lightning URI stays in lower case, because Android and some wallets do not read it in upper case", () => {
  const codeOf = (text: string): string => render(h(Qr, { text, label: "" }))
  assert.notStrictEqual(codeOf("lightning:LNBC1QQQ"), codeOf("LIGHTNING:LNBC1QQQ"))
})
