import { assert, describe, it } from "@effect/vitest"
import jsQR from "jsqr"

// Imported without their types, which would bring those of the DOM into the other tests.
const names = ["preact", "preact-render-to-string", new URL("../src/checkout/Qr.ts", import.meta.url).href]
const [{ h }, { render }, { contentOf, Qr, svg }] = await Promise.all(names.map((name) => import(name)))

const pixels = 4

/** Draws the image on this color as a browser does, and returns its pixels and its width in modules. */
const drawn = (image: string, ground: number) => {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(image)?.[1] ?? assert.fail("no square view box"))
  const shades = Array.from({ length: size * size }, () => ground)
  const [, width, height] = /<rect width="(\d+)" height="(\d+)" fill="#fff"/.exec(image) ?? []
  if (Number(width) === size && Number(height) === size) shades.fill(255)
  // Winding numbers of the outlines: each vertical edge changes those of the modules on its right.
  const winding = Array.from({ length: size * size }, () => 0)
  for (const [, x0 = "", y0 = "", moves = ""] of image.matchAll(/M(\d+) (\d+)([^Mz]*)z/g)) {
    let [x, y] = [Number(x0), Number(y0)]
    for (const [, direction, by] of moves.matchAll(/([hv])(-?\d+)/g)) {
      const length = Number(by)
      if (direction === "h") x += length
      else {
        for (let row = Math.min(y, y + length); row < Math.max(y, y + length); row++)
          for (let column = x; column < size; column++)
            winding[row * size + column] = (winding[row * size + column] ?? 0) + Math.sign(length)
        y += length
      }
    }
  }
  for (const [at, wound] of winding.entries()) if (wound !== 0) shades[at] = 0
  return { size, shades }
}

const decoded = (image: string, ground: number): string | undefined => {
  const { size, shades } = drawn(image, ground)
  const width = size * pixels
  const data = new Uint8ClampedArray(width * width * 4).fill(255)
  for (let at = 0; at < width * width; at++) {
    const shade = shades[Math.floor(at / width / pixels) * size + Math.floor((at % width) / pixels)] ?? 0
    data.fill(shade, at * 4, at * 4 + 3)
  }
  return jsQR.default(data, width, width)?.data
}

const invoice = `lnbc500u1p${"5h2kq9pp5".repeat(36)}`
const segwit = "bc1qcp2xjql6rs0x4xqdu0afsjkz2xjql6rs0x4xqd"
const base58 = "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"
const lnurl = "lnurl1dp68gurn8ghj7um9wfmxjcm99e3k7mf0v9cxj0m385ekvcenxc6r2c35"
const offer =
  "lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"

/** Texts, the content of their codes if another one, and the most modules on a side without the quiet zone. */
const cases: ReadonlyArray<readonly [text: string, content: string, modules: number]> = [
  [
    `bitcoin:${segwit}?amount=0.00050000&lightning=${invoice}`,
    `bitcoin:${segwit.toUpperCase()}?amount=0.00050000&lightning=${invoice.toUpperCase()}`,
    61
  ],
  [
    `bitcoin:${base58}?amount=0.00050000&lightning=${invoice}`,
    `bitcoin:${base58}?amount=0.00050000&lightning=${invoice.toUpperCase()}`,
    61
  ],
  [`bitcoin:?lno=${offer}`, `bitcoin:?lno=${offer.toUpperCase()}`, 45],
  [`bitcoin:${base58}?amount=0.00021000`, `bitcoin:${base58}?amount=0.00021000`, 33],
  [
    `bitcoin:${segwit.replace("bc1", "bcrt1")}`,
    `bitcoin:${segwit.replace("bc1", "bcrt1").toUpperCase()}`,
    29
  ],
  [`lightning:${invoice.toUpperCase()}`, `lightning:${invoice.toUpperCase()}`, 57],
  [invoice, invoice.toUpperCase(), 57],
  [lnurl, lnurl.toUpperCase(), 29],
  ["alice@pay.example.com", "alice@pay.example.com", 25],
  ["https://shop.example/?order=LN1042", "https://shop.example/?order=LN1042", 29],
  [`nostr+walletconnect://b889ff5b?relay=wss%3A%2F%2Frelay.example&secret=71a8c14c`, "", 41],
  ["grüße ₿", "", 21]
]

describe("a QR code", () => {
  for (const [text, content, modules] of cases)
    it(`QR code: readable on a black and on a white page, and at most ${modules} modules wide: ${text.slice(0, 60)}`, () => {
      assert.strictEqual(contentOf(text), content === "" ? text : content)
      for (const image of [svg(text), render(h(Qr, { text, label: "" }))])
        for (const ground of [0, 255]) {
          assert.strictEqual(decoded(image, ground), content === "" ? text : content, `on ${ground}`)
          const { size, shades } = drawn(image, ground)
          assert.isAtMost(size - 8, modules)
          const isMargin = (at: number) =>
            [at % size, Math.floor(at / size)].some((place) => place < 4 || place >= size - 4)
          assert.isTrue(
            shades.every((shade, at) => !isMargin(at) || shade === 255),
            "four light modules all around (ISO/IEC 18004)"
          )
        }
    })

  it("QR code: the scheme of a Lightning URI stays in lower case, because Android and some wallets do not read it in upper case", () => {
    const codeOf = (text: string): string => render(h(Qr, { text, label: "" }))
    assert.notStrictEqual(codeOf("lightning:LNBC1QQQ"), codeOf("LIGHTNING:LNBC1QQQ"))
  })
})
