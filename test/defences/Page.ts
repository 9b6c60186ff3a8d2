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
    "How others lost money, what stops it here, and the tests that would notice if it did not: a test's title begins with the numbers of its rows.",
    "The bugs are put back by `npm run canaries`, one at a time, and each must turn a test red.",
    "",
    ...incidents.flatMap(([group, rows]) => [
      `## ${group}`,
      "",
      "| row | what happened | what stops it | tests | bugs that are put back |",
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
    "| row | what happened | why not here |",
    "|---|---|---|",
    ...absent.map(({ row, incident, reason }) => `| ${row} | ${cell(incident)} | ${cell(reason ?? "")} |`),
    ""
  ].join("\n")
}
