import { correction, generate, mode } from "lean-qr"
import { h } from "preact"
import { useMemo } from "preact/hooks"

/** The light modules around a code that readers require (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4

/** Text in bech32, such as an address, an invoice, an offer or an LNURL. It means the same in upper case (BIP 173). */
const bech32 = /(?<![A-Za-z0-9])(?:bc|tb|bcrt|ln[a-z0-9]*)1[02-9ac-hj-np-z]{6,}(?![A-Za-z0-9])/g

/** Upper-case letters, digits and some signs take 5.5 bits, if there are enough of them to switch the encoding. */
const dense = /([0-9A-Z $%*+\-./:]{14,})/

/** Returns the code's content: the same text, with each part in bech32 in upper case. Schemes and names keep their case. */
export const contentOf = (text: string): string => text.replaceAll(bech32, (part) => part.toUpperCase())

const encoded = (text: string) =>
  mode.multi(
    ...contentOf(text)
      .split(dense)
      .flatMap((part, at) =>
        part === ""
          ? []
          : [at % 2 === 1 ? mode.alphaNumeric(part) : mode.bytes(new TextEncoder().encode(part))]
      )
  )

/**
 * Right, down, left, up: the directions around a dark module, clockwise along its top, right, bottom and
 * left.
 */
const steps = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1]
] as const

/** Outlines of the dark areas, so that no seams appear between modules at any size. */
const traced = (text: string): { readonly size: number; readonly path: string } => {
  const code = generate(encoded(text), { minCorrectionLevel: correction.L })
  // The directions of the edges from each starting point, with dark on their right and light on their left.
  // There are two where dark modules touch at a corner.
  const sides = new Map<string, Array<number>>()
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++)
      for (const [at] of code.get(x, y) ? steps.entries() : []) {
        const [right, down] = steps[(at + 3) & 3] ?? steps[0]
        if (code.get(x + right, y + down)) continue
        const start = `${x + quietZone + (at === 1 || at === 2 ? 1 : 0)} ${y + quietZone + (at > 1 ? 1 : 0)}`
        sides.set(start, [...(sides.get(start) ?? []), at])
      }
  let path = ""
  for (const [start, starts] of sides)
    for (let at = starts.pop(); at !== undefined;) {
      path += `M${start}`
      let [x = 0, y = 0] = start.split(" ").map(Number)
      for (let side: number | undefined = at; side !== undefined;) {
        const [right, down]: readonly [number, number] = steps[side] ?? steps[0]
        let length = 0
        let next: number | undefined = side
        for (; next === side; length++) next = sides.get(`${(x += right)} ${(y += down)}`)?.pop()
        path += right === 0 ? `v${down * length}` : `h${right * length}`
        side = next
      }
      path += "z"
      at = starts.pop()
    }
  return { size: code.size + 2 * quietZone, path }
}

/** A QR code as an image of its own. Like `Qr`, it has a white ground, so that it is readable on any page. */
export const svg = (text: string): string => {
  const { size, path } = traced(text)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}"/></svg>`
}

/** A QR code in a page: dark on white, with its quiet zone. */
export const Qr = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { size, path } = useMemo(() => traced(text), [text])
  return h(
    "svg",
    {
      class: "qr",
      viewBox: `0 0 ${size} ${size}`,
      width: 357,
      height: 357,
      role: "img",
      "aria-label": label
    },
    h("rect", { width: size, height: size, fill: "#fff" }),
    h("path", { d: path, fill: "#000" })
  )
}
