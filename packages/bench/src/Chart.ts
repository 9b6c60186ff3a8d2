/** One latency at one load. */
export interface Point {
  readonly perSecond: number
  readonly millis: number
}

export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<Point>
}

const width = 720
const height = 420
const margin = { left: 64, right: 16, top: 40, bottom: 48 }
const colours = ["#0b6e99", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be123c"]

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Marks of 1, 2 and 5 in every power of ten that the values span. */
const decades = (from: number, to: number): ReadonlyArray<number> => {
  const first = Math.floor(Math.log10(from))
  const powers = Array.from({ length: Math.ceil(Math.log10(to)) - first + 1 }, (_, i) => 10 ** (first + i))
  return powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((mark) => mark >= from && mark <= to)
}

/** Latency against load, both on logarithmic axes: an SVG that needs nothing else. */
export const svg = (title: string, series: ReadonlyArray<Series>): string => {
  const all = series.flatMap(({ points }) => points)
  const span = (values: ReadonlyArray<number>) => {
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return least < most ? ([least / 1.2, most * 1.2] as const) : ([least / 2, most * 2] as const)
  }
  const [x0, x1] = span(all.map(({ perSecond }) => perSecond))
  const [y0, y1] = span(all.map(({ millis }) => millis))
  const part = (value: number, from: number, to: number) => Math.log(value / from) / Math.log(to / from)
  const x = (perSecond: number) => (margin.left + part(perSecond, x0, x1) * (width - margin.left - margin.right)).toFixed(1)
  const y = (millis: number) => (height - margin.bottom - part(millis, y0, y1) * (height - margin.top - margin.bottom)).toFixed(1)
  const bottom = height - margin.bottom
  const right = width - margin.right
  const vertical = decades(x0, x1).map(
    (mark) =>
      `<path d="M${x(mark)} ${margin.top}V${bottom}" stroke="#ddd"/><text x="${x(mark)}" y="${bottom + 16}" text-anchor="middle">${mark}</text>`
  )
  const horizontal = decades(y0, y1).map(
    (mark) =>
      `<path d="M${margin.left} ${y(mark)}H${right}" stroke="#ddd"/><text x="${margin.left - 8}" y="${y(mark)}" dy="4" text-anchor="end">${mark}</text>`
  )
  const lines = series.flatMap(({ name, points }, i) => {
    const colour = colours[i % colours.length]
    const path = points.map(({ perSecond, millis }) => `${x(perSecond)},${y(millis)}`).join(" ")
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(({ perSecond, millis }) => `<circle cx="${x(perSecond)}" cy="${y(millis)}" r="3" fill="${colour}"/>`),
      `<text x="${margin.left + 8}" y="${margin.top + 16 + 16 * i}" fill="${colour}">${escaped(name)}</text>`
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${margin.left}" y="20" font-size="15">${escaped(title)}</text>`,
    ...vertical,
    ...horizontal,
    ...lines,
    `<text x="${right}" y="${height - 12}" text-anchor="end">requests a second, at random</text>`,
    `<text x="14" y="${margin.top}" text-anchor="end" transform="rotate(-90 14 ${margin.top})">latency, ms</text>`,
    "</svg>",
    ""
  ].join("\n")
}
