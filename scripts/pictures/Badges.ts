// Badges that show checked facts. Each badge is drawn from the data that the check reads, and a test fails if a
// badge is outdated. All badges are files in this repository.
import { readFileSync } from "node:fs"
import path from "node:path"
import { minimumNode } from "../../packages/bitcoin/src/Runtime.ts"
import { canaries } from "../../test/defences/Canaries.ts"
import { incidents } from "../../test/defences/Incidents.ts"
import { titles } from "../../test/defences/Titles.ts"

const root = path.join(import.meta.dirname, "../..")
const json = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8"))

const colours = { fact: "#1a7f37", notice: "#9a6700" } as const

interface Badge {
  readonly label: string
  readonly value: string
  readonly colour: keyof typeof colours
}

/** Returns a width that is sufficient for any 11 px sans-serif font. The text is fitted to that width. */
const widthOf = (text: string): number => Math.round(text.length * 6.3 + 14)

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const draw = ({ label, value, colour }: Badge): string => {
  const [left, right] = [widthOf(label), widthOf(value)]
  const text = (words: string, from: number, width: number) =>
    `<text x="${from + width / 2}" y="14" textLength="${width - 14}" lengthAdjust="spacingAndGlyphs">${escaped(words)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escaped(`${label}: ${value}`)}">
<clipPath id="r"><rect width="${left + right}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><path fill="#424a53" d="M0 0h${left}v20H0z"/><path fill="${colours[colour]}" d="M${left} 0h${right}v20H${left}z"/></g>
<g fill="#fff" text-anchor="middle" font-family="system-ui,'Segoe UI',Helvetica,Arial,sans-serif" font-size="11">${text(label, 0, left)}${text(value, left, right)}</g>
</svg>
`
}

/** Counts the incidents that have a test, and the tests whose titles contain an incident's number. */
const defended = () => {
  const proofs = titles()
  const rows = incidents
    .flatMap(([, rows]) => rows)
    .filter(({ row }) => proofs.some((titled) => titled.rows.includes(row)))
  return { rows: rows.length, tests: proofs.length }
}

/** Rounds down, so that not every new test changes a badge. */
const atLeast = (count: number, step: number): string => `${Math.floor(count / step) * step}+`

/** Returns every badge by its file name in docs/assets. */
export const badges = (): Readonly<Record<string, string>> => {
  const { rows, tests } = defended()
  const { license, version } = json("package.json")
  return {
    "badge-incidents.svg": draw({
      label: "incidents covered",
      value: `${rows}, with ${atLeast(tests, 50)} tests`,
      colour: "fact"
    }),
    "badge-mutants.svg": draw({
      label: "bugs reintroduced",
      value: `${atLeast(canaries.length, 10)}, each caught`,
      colour: "fact"
    }),
    "badge-node.svg": draw({ label: "Node", value: `≥ ${minimumNode}`, colour: "fact" }),
    "badge-licence.svg": draw({ label: "licence", value: license, colour: "fact" }),
    "badge-status.svg": draw({ label: `status ${version}`, value: "not audited", colour: "notice" })
  }
}
