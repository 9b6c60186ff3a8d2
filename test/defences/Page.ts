import { canaries } from "./Canaries.ts"
import { type Incident, incidents } from "./Incidents.ts"
import { type Tampering, tamperings } from "./Tampering.ts"
import { type Titled, titles } from "./Titles.ts"

const escaped = (text: string) => text.replaceAll("<", "&lt;")
const cell = (text: string) => escaped(text).replaceAll("|", "\\|")

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** A file with the number of its tests, if there are several. */
const proof = (file: string, { length }: ReadonlyArray<Titled>) =>
  `[${file.replace(/^packages\/(\w+)\/(?:src|test)\//, "$1/")}](../../${file})${length === 1 ? "" : ` (${length})`}`

const section = ({ row, incident, defence }: Incident, all: ReadonlyArray<Titled>): ReadonlyArray<string> => {
  const mutants = canaries.filter(({ rows }) => rows?.includes(row)).map(({ name }) => `\`${name}\``)
  return [
    `### C${row}: ${escaped(incident)}`,
    "",
    `${escaped(defence ?? "")}.`,
    "",
    `${counted(all.length, "test")}: ${Array.from(
      Map.groupBy(all, ({ file }) => file),
      ([file, titled]) => proof(file, titled)
    ).join(", ")}.`,
    ...(mutants.length === 0 ? [] : ["", `${counted(mutants.length, "mutant")}: ${mutants.join(", ")}.`]),
    ""
  ]
}

const isMissed = ({ owner }: Tampering) => owner.startsWith("Not found")

/** The manipulations that nothing finds, by whether the application's role can make them. */
const missed = (by: (application: string) => boolean) =>
  tamperings
    .filter((one) => isMissed(one) && by(one.application))
    .map(({ what, owner }) => `- ${escaped(what)}: ${owner.replace("Not found: ", "")}`)

/** The page of incidents: what happened elsewhere, what prevents it here, and the tests that prove it. */
export const page = (): string => {
  const all = titles()
  const rows = incidents.flatMap(([, rows]) => rows)
  const absent = rows.filter(({ reason }) => reason !== undefined)
  return [
    "# Defenses",
    "",
    `For engineers who assess satrail. By the end, you will know ${counted(rows.length, "incident")} in which other services lost money or could have, and the tests here that would catch each. The title of a test begins with the`,
    'numbers of its incidents, so `npm test -- -t "C12:"` runs the tests of one incident. `npm run canaries` reintroduces known bugs (*mutants*) one at a time, and fails if the tests miss one. [Outcomes.ts](../../test/defences/Outcomes.ts) lists each line that decides between a failed and an unknown payment, with its test.',
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
    "This section lists what happens when someone changes the tables directly, as the application's role (`satrail_application`) or as the owner of the tables. *Refused*: PostgreSQL refuses, because the role lacks the privilege. *Found*: the next `satrail verify` finds it by the *values* in the audit log, by the *books*, or by the log's *chain* of hashes, *signatures* or separately stored *end*. Run `verify` nightly.",
    "Each row is tested as both roles ([tampering.slow.test.ts](../../packages/postgres/test/tampering.slow.test.ts)). `verify` checks signatures only when it runs with the service's settings, because the signing secret is not in the database.",
    "",
    "Until `verify` runs, a key, operator token, person, webhook endpoint or wallet connection that was inserted is valid. An inserted session is not, because its hash requires the service's secret.",
    "",
    "| tampering | as the application's role | as the owner |",
    "|---|---|---|",
    ...tamperings
      .filter((one) => !isMissed(one))
      .map(({ what, application, owner }) => `| ${cell(what)} | ${application} | ${owner} |`),
    "",
    "`verify` does not find, as the application's role:",
    "",
    ...missed((application) => application !== "Refused"),
    "",
    "`verify` does not find, as the owner:",
    "",
    ...missed((application) => application === "Refused"),
    "- a record reset to a value that it had within ten seconds of its last change, because simultaneous changes may be logged in another order",
    "- an entry deleted within a second, before it is linked, unless the entry records a change to a record that `verify` compares",
    "- entries removed at the end together with a restored older end: `verify` names only the records that they had changed. To find the rest, store heads elsewhere (one is logged and sent to the operator's webhooks every hour) and pass one with `--audit-head`. This also finds a log that was re-signed with the service's secret.",
    "",
    ...(absent.length === 0
      ? []
      : ["## What does not apply", "", "| | incident | why not here |", "|---|---|---|"]),
    ...absent.map(({ row, incident, reason }) => `| C${row} | ${cell(incident)} | ${cell(reason ?? "")} |`),
    ""
  ].join("\n")
}
