// Draws the README's commands and output as an animated terminal in one SVG. The animation uses only CSS, which
// works where scripts are not allowed. Readers who prefer reduced motion, or whose viewer doesn't support
// animation, see the final state.

/** A line to show: our caption, a typed command, or a program's output. */
export interface Line {
  readonly kind: "caption" | "command" | "output"
  readonly text: string
}

interface Palette {
  readonly background: string
  readonly border: string
  readonly bar: string
  readonly command: string
  readonly caption: string
  readonly output: string
  readonly prompt: string
}

export const palettes = {
  light: {
    background: "#ffffff",
    border: "#d0d7de",
    bar: "#f6f8fa",
    command: "#1f2328",
    caption: "#6e7781",
    output: "#0a5fb4",
    prompt: "#a84f00"
  },
  dark: {
    background: "#0d1117",
    border: "#30363d",
    bar: "#161b22",
    command: "#e6edf3",
    caption: "#8b949e",
    output: "#79c0ff",
    prompt: "#ffb454"
  }
} as const satisfies Record<string, Palette>

const columns = 96
const rows = 24
const character = { width: 8.4, height: 19 }
const inset = { left: 18, top: 48, bottom: 14 }
const size = {
  width: columns * character.width + 2 * inset.left,
  height: inset.top + rows * character.height + inset.bottom
}

const millis = { perCharacter: 14, afterCommand: 260, afterOutput: 90, afterCaption: 500, atTheEnd: 7000 }

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Wraps long lines, between words if possible. */
const wrapped = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> =>
  lines.flatMap(({ kind, text }) => {
    const parts = text.match(new RegExp(`.{1,${columns}}(?= |$)|.{1,${columns}}`, "gu")) ?? [""]
    return parts.map((part) => ({ kind, text: part }))
  })

/** Adds the times at which each line starts to appear and is complete. */
const timed = (lines: ReadonlyArray<Line>) => {
  let now = 400
  return lines.map((line, index) => {
    const from = now
    if (line.kind === "command") now += line.text.length * millis.perCharacter
    const until = now
    const isLast = lines[index + 1]?.kind !== line.kind
    now +=
      line.kind === "output"
        ? millis.afterOutput
        : line.kind === "caption"
          ? millis.afterCaption
          : isLast
            ? millis.afterCommand
            : 0
    if (line.kind === "output" && isLast) now += 900
    return { ...line, from, until }
  })
}

/** Draws the picture. `title` is its alternative text. */
export const draw = (story: ReadonlyArray<Line>, title: string, palette: Palette): string => {
  const lines = timed(wrapped(story))
  const whole = (lines.at(-1)?.until ?? 0) + millis.atTheEnd
  const percent = (at: number) => `${Number(((at / whole) * 100).toFixed(3))}%`
  const y = (index: number) => inset.top + (index + 1) * character.height - 5
  const up = (index: number) => -Math.max(0, index + 1 - rows) * character.height

  // The window scrolls with the last line, one step per line.
  const steps = lines.flatMap(({ from }, index) =>
    index < rows ? [] : [`${percent(from)}{transform:translateY(${up(index)}px)}`]
  )
  const style = [
    "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
    `.caption{fill:${palette.caption}}.command{fill:${palette.command}}.output{fill:${palette.output}}.prompt{fill:${palette.prompt}}`,
    `g,text,rect{animation-duration:${whole}ms;animation-iteration-count:infinite;animation-timing-function:step-end}`,
    `#all{transform:translateY(${up(lines.length - 1)}px);animation-name:all}`,
    `@keyframes all{0%{transform:none}${steps.join("")}100%{transform:translateY(${up(lines.length - 1)}px)}}`,
    ...lines.flatMap(({ kind, text, from, until }, index) => {
      const shown = `#l${index}{animation-name:l${index}}@keyframes l${index}{0%{opacity:0}${percent(from)}{opacity:1}}`
      if (kind !== "command") return [shown]
      // A rectangle covers the text that is not typed yet.
      const width = text.length * character.width
      const covered = `#c${index}{animation-name:c${index}}@keyframes c${index}{0%{transform:none}${percent(from)}{transform:none;animation-timing-function:steps(${text.length})}${percent(until)}{transform:translateX(${width}px)}100%{transform:translateX(${width}px)}}`
      return [shown, covered]
    }),
    "@media (prefers-reduced-motion:reduce){g,text,rect{animation:none!important}}"
  ].join("\n")

  const shown = lines.map(({ kind, text }, index) => {
    const [, prompt = "", rest = ""] = /^((?:\$ )?)(.*)$/su.exec(text) ?? []
    const words =
      kind === "command" && prompt !== ""
        ? `<tspan class="prompt">${prompt}</tspan>${escaped(rest)}`
        : escaped(text)
    const length =
      text.length === 0
        ? ""
        : ` textLength="${Number((text.length * character.width).toFixed(1))}" lengthAdjust="spacingAndGlyphs"`
    const line = `<text id="l${index}" class="${kind}" x="${inset.left}" y="${y(index)}"${length}>${words}</text>`
    if (kind !== "command") return line
    const box = `x="${inset.left}" y="${y(index) - 15}" width="${size.width}" height="${character.height + 1}"`
    return `${line}<rect id="c${index}" ${box} fill="${palette.background}" transform="translate(${size.width})"/>`
  })

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escaped(title).replaceAll('"', "&quot;")}">
<style>
${style}
</style>
<clipPath id="window"><rect x="8" y="37" width="${size.width - 16}" height="${size.height - 45}"/></clipPath>
<rect x=".5" y=".5" width="${size.width - 1}" height="${size.height - 1}" rx="8" fill="${palette.background}" stroke="${palette.border}"/>
<path d="M1 36V9a8 8 0 0 1 8-8H${size.width - 9}a8 8 0 0 1 8 8V36z" fill="${palette.bar}"/><path d="M1 36.5H${size.width - 1}" stroke="${palette.border}"/>
<circle cx="20" cy="18.5" r="6" fill="#ff5f57"/><circle cx="40" cy="18.5" r="6" fill="#febc2e"/><circle cx="60" cy="18.5" r="6" fill="#28c840"/>
<g clip-path="url(#window)"><g id="all">
${shown.join("\n")}
</g></g>
</svg>
`
}
