import { h } from "preact"
import { useMemo } from "preact/hooks"
import { encodeQR } from "qr"

/** The minimum margin of the encoder. The view omits it. */
const border = 1

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
  const rows = encodeQR(text, "raw", { border, ecc: "low" })
  // The directions of the edges from each starting point, with dark on their right and light on their left.
  // There are two where dark modules touch at a corner.
  const sides = new Map<string, Array<number>>()
  for (const [y, row] of rows.entries())
    for (const [x, isDark] of row.entries())
      for (const [at] of isDark ? steps.entries() : []) {
        const [right, down] = steps[(at + 3) & 3] ?? steps[0]
        if (rows[y + down]?.[x + right]) continue
        const start = `${x + (at === 1 || at === 2 ? 1 : 0)} ${y + (at > 1 ? 1 : 0)}`
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
  return { size: rows.length - 2 * border, path }
}

/**
 * A dark QR code without a margin, regardless of the page's colors. Place it on white with 16 px around it.
 */
export const Qr = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { size, path } = useMemo(() => traced(text), [text])
  return h(
    "svg",
    { class: "qr", viewBox: `${border} ${border} ${size} ${size}`, width: 325, height: 325, role: "img", "aria-label": label },
    h("path", { d: path })
  )
}
