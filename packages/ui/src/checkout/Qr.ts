import { h } from "preact"
import { useMemo } from "preact/hooks"
import { encodeQR } from "qr"

/** Light around the code, in modules: what ISO/IEC 18004 asks for. */
const border = 4

/** Each run of dark modules of a row as a rectangle: `M4 4h7v1h-7z`. */
const drawn = (text: string): { readonly size: number; readonly path: string } => {
  const rows = encodeQR(text, "raw", { border, ecc: "low" })
  const runs = rows.flatMap((row, y) => {
    const found: Array<string> = []
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue
      const from = x
      while (row[x + 1] === true) x++
      found.push(`M${from} ${y}h${x + 1 - from}v1h-${x + 1 - from}z`)
    }
    return found
  })
  return { size: rows.length, path: runs.join("") }
}

/** A QR code, dark on light whatever the page's colours are: wallets read no other. */
export const Qr = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { size, path } = useMemo(() => drawn(text), [text])
  return h(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    h("rect", { class: "light", width: size, height: size }),
    h("path", { class: "dark", d: path })
  )
}
