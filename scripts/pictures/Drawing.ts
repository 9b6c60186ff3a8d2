// The boxes and arrows of the diagrams.

export interface Palette {
  readonly text: string
  readonly faint: string
  readonly line: string
  readonly box: string
  readonly core: string
  readonly accent: string
}

export const palettes = {
  light: {
    text: "#1f2328",
    faint: "#59636e",
    line: "#8c959f",
    box: "#f6f8fa",
    core: "#fff8f0",
    accent: "#c25b00"
  },
  dark: {
    text: "#e6edf3",
    faint: "#9198a1",
    line: "#656c76",
    box: "#161b22",
    core: "#1f1a12",
    accent: "#f7931a"
  }
} as const satisfies Record<string, Palette>

export interface Size {
  readonly width: number
  readonly height: number
}

export const frame = (
  { text, faint, line }: Palette,
  { width, height }: Size,
  label: string,
  content: string
): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<style>
text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:${text}}
.title{font-weight:600;font-size:14px}
.faint{fill:${faint};font-size:12px}
.label{fill:${faint};font-size:12px}
path{fill:none;stroke-width:1.5}
</style>
<defs>
<marker id="to" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:${line}"/></marker>
<marker id="from" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7"><path d="M8 0 0 4 8 8z" style="fill:${line}"/></marker>
</defs>
${content}
</svg>
`

/** Returns functions that draw boxes and arrows in the colors of a palette. */
export const make = ({ line, box, accent }: Palette) => {
  const card = (
    x: number,
    y: number,
    width: number,
    title: string,
    ...lines: ReadonlyArray<string>
  ): string => {
    const height = 34 + lines.length * 17
    const words = lines
      .map((words, i) => `<text class="faint" x="${x + 14}" y="${y + 41 + i * 17}">${words}</text>`)
      .join("")
    return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${box}" stroke="${line}"/><text class="title" x="${x + 14}" y="${y + 23}">${title}</text>${words}`
  }
  /** Draws an arrow along an SVG path, such as `M210 86H252`. */
  const arrow = (path: string): string => `<path d="${path}" stroke="${line}" marker-end="url(#to)"/>`
  /** Draws an arrow with two heads along a path. The path must be horizontal and lead from left to right. */
  const both = (path: string): string =>
    `<path d="${path}" stroke="${line}" marker-start="url(#from)" marker-end="url(#to)"/>`
  const label = (x: number, y: number, text: string, anchor = "start"): string =>
    `<text class="label" x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
  const area = (x: number, y: number, width: number, height: number, fill: string): string =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${accent}"/>`
  return { card, arrow, both, label, area }
}
