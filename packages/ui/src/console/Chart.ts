import { h } from "preact"
import * as Formats from "./Format.ts"
import type { Format } from "./Format.ts"

// Charts are SVG, which stretches. Their labels are HTML, which does not. Satoshis are on the left axis, fiat
// on the right.

const gridline = (y: number, isZero = false) =>
  h("line", { class: `g ${isZero ? "zero" : ""}`.trim(), x1: 0, x2: 100, y1: y, y2: y })

/** Rounds up to 1, 2 or 5 times a power of ten. */
const nice = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power
}

const at = (value: number) => Math.round(value * 100) / 100

interface Point {
  readonly atMillis: number
  /** Returns the page of this day's payments. */
  readonly href: string
}

export interface Balance extends Point {
  readonly sats: number
}

export interface Flow extends Point {
  readonly in: number
  readonly out: number
}

const tip = (point: Point, title: string, lines: ReadonlyArray<string>) =>
  h(
    "a",
    { href: point.href, tabIndex: -1 },
    h(
      "span",
      { class: "tip" },
      h("b", null, title),
      lines.map((line) => h("span", null, line))
    )
  )

const axis = (side: "y" | "z", labels: ReadonlyArray<string>) =>
  h(
    "div",
    { class: side, "aria-hidden": true },
    labels.map((text) => h("span", null, text))
  )

const withFiat = (say: Format, sats: number): string => {
  const fiat = say.fiat(sats)
  return fiat === undefined ? Formats.exact(sats) : `${Formats.exact(sats)} · ${fiat}`
}

const fiatShort = (say: Format, sats: number): string =>
  say.price === undefined
    ? ""
    : Formats.fiatShort(Formats.valueOf(sats, say.price.perBitcoin), say.price.currency)

const asTable = (name: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  h(
    "details",
    { class: "asTable" },
    h("summary", null, "Show as a table", h("span", { class: "visually-hidden" }, `: ${name}`)),
    h(
      "table",
      { class: "num", "aria-label": name },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((text, n) => h("th", { scope: "col", class: n === 0 ? "" : "r" }, text))
        )
      ),
      h(
        "tbody",
        null,
        rows.map((cells) =>
          h(
            "tr",
            null,
            cells.map((text, n) =>
              n === 0 ? h("th", { scope: "row" }, text) : h("td", { class: "r" }, text)
            )
          )
        )
      )
    )
  )

/** Spreads at most `most` labels over the points. The last point always has one. */
const spread = <A>(of: ReadonlyArray<A>, most: number): ReadonlyArray<A> => {
  const step = Math.max(1, Math.ceil((of.length - 1) / (most - 1)))
  return of.filter((_, n) => (of.length - 1 - n) % step === 0)
}

/** A line chart of a balance over time. */
export const line = (say: Format, points: ReadonlyArray<Balance>) => {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const values = points.map(({ sats }) => sats)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  // Labels have three digits. Steps of less than 1 % of the top, which is at most four steps above the balance, could repeat them.
  const step = nice(Math.max((high - low) / 3, high / 96))
  const bottom = Math.max(0, Math.floor(low / step) * step)
  const top = bottom + 4 * step
  const x = (n: number) => at(points.length === 1 ? 100 : (n / (points.length - 1)) * 100)
  const y = (sats: number) => at(100 - ((sats - bottom) / (top - bottom)) * 100)
  const path = points.map(({ sats }, n) => `${x(n)},${y(sats)}`).join(" ")
  const ticks = [4, 3, 2, 1, 0].map((n) => bottom + n * step)
  const label = `Balance from ${say.date(first.atMillis)} to ${say.date(last.atMillis)}: from ${Formats.exact(first.sats)} to ${Formats.exactSats(last.sats)}`
  return [
    h(
      "figure",
      { class: "chart", "aria-label": label },
      axis("y", ticks.map(Formats.short)),
      h(
        "div",
        { class: "plot" },
        h(
          "svg",
          { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": true },
          [0, 25, 50, 75, 100].map((one) => gridline(one)),
          h("polygon", { class: "a-1", points: `0,100 ${path} 100,100` }),
          h("polyline", { class: "l-1", points: path }),
          h("line", { class: "dot-1", x1: 100, x2: 100, y1: y(last.sats), y2: y(last.sats) })
        ),
        h(
          "div",
          { class: "days line", "aria-hidden": true },
          points.map((point) => tip(point, say.weekday(point.atMillis), [withFiat(say, point.sats)]))
        )
      ),
      axis(
        "z",
        ticks.map((sats) => fiatShort(say, sats))
      ),
      h(
        "div",
        { class: "x", "aria-hidden": true },
        spread(points, 5).map((point) => h("span", null, point === last ? "Now" : say.date(point.atMillis)))
      )
    ),
    asTable(
      "balance",
      ["Day", "Balance, sats", "Value now"],
      points.map(({ atMillis, sats }) => [say.date(atMillis), Formats.exact(sats), say.fiat(sats) ?? "–"])
    )
  ]
}

/** A bar chart of money in and out, by day. */
export const bars = (say: Format, days: ReadonlyArray<Flow>) => {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return null
  const most = Math.max(1, ...days.map((day) => day.in))
  const least = Math.max(0, ...days.map((day) => day.out))
  const step = nice(Math.max(most, least) / 2)
  const [up, down] = [Math.max(1, Math.ceil(most / step)), Math.ceil(least / step)]
  const height = (sats: number) => at((sats / (step * (up + down))) * 100)
  const zero = at((up / (up + down)) * 100)
  const ticks = Array.from({ length: up + down + 1 }, (_, n) => up - n)
  const width = 100 / days.length
  const bar = (kind: string, n: number, top: number, sats: number) =>
    sats > 0 &&
    h("rect", {
      class: kind,
      x: at(n * width + width * 0.18),
      y: top,
      width: at(width * 0.64),
      height: Math.max(0.5, height(sats))
    })
  return [
    h(
      "figure",
      {
        class: "chart",
        "aria-label": `In and out by day, ${say.date(first.atMillis)} to ${say.date(last.atMillis)}`
      },
      axis(
        "y",
        ticks.map((n) => Formats.short(Math.abs(n) * step))
      ),
      h(
        "div",
        { class: "plot" },
        h(
          "svg",
          { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": true },
          ticks.map((n) => gridline(at(((up - n) / (up + down)) * 100), n === 0)),
          days.map((day, n) => [
            bar("f-1", n, at(zero - height(day.in)), day.in),
            bar("f-2", n, zero, day.out)
          ])
        ),
        h(
          "div",
          { class: "days bars", "aria-hidden": true },
          days.map((day) =>
            tip(day, say.weekday(day.atMillis), [
              `In ${withFiat(say, day.in)}`,
              `Out ${withFiat(say, day.out)}`
            ])
          )
        )
      ),
      axis(
        "z",
        ticks.map((n) => (n === 0 ? "0" : fiatShort(say, Math.abs(n) * step)))
      ),
      h(
        "div",
        { class: "x cols", "aria-hidden": true },
        days.map((day) => h("span", null, say.dayOfMonth(day.atMillis)))
      )
    ),
    asTable(
      "in and out by day",
      ["Day", "In, sats", "Out, sats"],
      days.map((day) => [say.date(day.atMillis), Formats.exact(day.in), Formats.exact(day.out)])
    )
  ]
}

/** The legend of the bars. */
export const legend = () =>
  h(
    "span",
    { class: "chips" },
    (["In", "Out"] as const).map((text, n) =>
      h(
        "span",
        { class: "key" },
        h(
          "svg",
          { width: 10, height: 10, "aria-hidden": true },
          h("rect", { class: `f-${n + 1}`, width: 10, height: 10 })
        ),
        text
      )
    )
  )
