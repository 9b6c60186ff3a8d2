import { canaries } from "./Canaries.ts"
import { type Incident, incidents } from "./Incidents.ts"
import { type Titled, titles } from "./Titles.ts"

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

const proof = ({ file, title }: Titled) => `[${file.replace(/^packages\/(\w+)\/(?:src|test)\//, "$1/")}](../../${file}): ${cell(title)}`

const line = ({ row, incident, defence }: Incident, proofs: ReadonlyArray<Titled>) => {
  const bugs = canaries.filter(({ rows }) => rows.includes(row)).map(({ name }) => `\`${name}\``)
  return `| ${row} | ${cell(incident)} | ${cell(defence ?? "")} | ${proofs.map(proof).join("<br>")} | ${bugs.join("<br>")} |`
}

/** The page of the incidents: what happened elsewhere, what stops it here, and the tests that say so by their titles. */
export const page = (): string => {
  const all = titles()
  const absent = incidents.flatMap(([, rows]) => rows.filter(({ reason }) => reason !== undefined))
  return [
    "# Defences",
    "",
    "Incidents in which other services lost money, what prevents them here, and the tests that would catch them: a test's title begins with the numbers of its rows.",
    "`npm run canaries` reintroduces the bugs, one at a time, as mutants; a test must fail for each.",
    "",
    ...incidents.flatMap(([group, rows]) => [
      `## ${group}`,
      "",
      "| row | incident | what prevents it | tests | mutants |",
      "|---|---|---|---|---|",
      ...rows
        .filter(({ reason }) => reason === undefined)
        .map((row) =>
          line(
            row,
            all.filter(({ rows }) => rows.includes(row.row))
          )
        ),
      ""
    ]),
    "## What does not apply",
    "",
    "| row | incident | why not here |",
    "|---|---|---|",
    ...absent.map(({ row, incident, reason }) => `| ${row} | ${cell(incident)} | ${cell(reason ?? "")} |`),
    ""
  ].join("\n")
}
