import { canaries } from "./Canaries.ts"
import { type Incident, incidents } from "./Incidents.ts"
import { tamperings } from "./Tampering.ts"
import { type Titled, titles } from "./Titles.ts"

const escaped = (text: string) => text.replaceAll("<", "&lt;")
const cell = (text: string) => escaped(text).replaceAll("|", "\\|")

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** The tests of a file, below its name. */
const proofs = (file: string, all: ReadonlyArray<Titled>) => [
  `- [${file.replace(/^packages\/(\w+)\/(?:src|test)\//, "$1/")}](../../${file})`,
  ...all.map(({ title }) => `  - ${escaped(title)}`)
]

const section = ({ row, incident, defence }: Incident, all: ReadonlyArray<Titled>): ReadonlyArray<string> => {
  const mutants = canaries.filter(({ rows }) => rows.includes(row)).map(({ name }) => `\`${name}\``)
  const counts = [counted(all.length, "test"), ...(mutants.length === 0 ? [] : [counted(mutants.length, "mutant")])]
  return [
    `### C${row}: ${escaped(incident)}`,
    "",
    `${escaped(defence ?? "")}.`,
    "",
    `<details><summary>${counts.join(", ")}</summary>`,
    "",
    ...[...Map.groupBy(all, ({ file }) => file)].flatMap(([file, titled]) => proofs(file, titled)),
    ...(mutants.length === 0 ? [] : ["", `Put back as ${mutants.join(", ")}.`]),
    "",
    "</details>",
    ""
  ]
}

/** The page of the incidents: what happened elsewhere, what stops it here, and the tests that say so by their titles. */
export const page = (): string => {
  const all = titles()
  const rows = incidents.flatMap(([, rows]) => rows)
  const absent = rows.filter(({ reason }) => reason !== undefined)
  return [
    "# Defences",
    "",
    `${counted(rows.length, "incident")} in which other services lost money, or could have. ${rows.length - absent.length} have tests here that would catch them: a test's title begins with the`,
    "numbers of its incidents, `C12: …`. For the others, the end of this page says why they do not apply. `npm run canaries` puts the bugs back, one at a time, as mutants: a test must fail for each.",
    "",
    ...incidents.flatMap(([group, rows]) => [
      `## ${group}`,
      "",
      ...rows
        .filter(({ reason }) => reason === undefined)
        .flatMap((row) =>
          section(
            row,
            all.filter(({ rows }) => rows.includes(row.row))
          )
        )
    ]),
    "## Tampering with the database",
    "",
    "What is found when somebody changes the tables past the service: with the password of the application's role (`satrail_application`), or as the owner of the tables. `satrail verify` runs when you run it: run it nightly.",
    "Each row is a test, as both roles ([tampering.test.ts](../../packages/postgres/test/tampering.test.ts)). Signatures are checked where `verify` runs with the settings of the service, as its secret is not in the database.",
    "",
    "`verify` compares API keys, operator tokens, companies with their limits, fees and freezes, webhook endpoints and wallet connections with the last value in the audit log. It does not find:",
    "",
    "- what was tampered with before the first start of a version that compares: the log begins with the values that it finds then. For the hour after its first signed entry, unsigned ones count, because processes of an earlier version may still run;",
    "- a value that was set back to one that it had within ten seconds of the last change, because simultaneous changes may be logged in another order;",
    "- an entry that the owner removes within the second before it is linked, unless it changed one of these records;",
    "- a log that was signed anew by someone who also has the service's secret. Only a head that was logged or sent to a webhook before, and kept elsewhere, finds that.",
    "",
    "| tampering | as the application's role | as the owner |",
    "|---|---|---|",
    ...tamperings.map(({ what, application, owner }) => `| ${cell(what)} | ${cell(application)} | ${cell(owner)} |`),
    "",
    "## What does not apply",
    "",
    "| | incident | why not here |",
    "|---|---|---|",
    ...absent.map(({ row, incident, reason }) => `| C${row} | ${cell(incident)} | ${cell(reason ?? "")} |`),
    ""
  ].join("\n")
}
