import { canaries } from "./Canaries.ts"
import { type Incident, incidents } from "./Incidents.ts"
import { tamperings } from "./Tampering.ts"
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
    "This section lists what `satrail verify` finds at its next run when someone changes the tables directly, as the application's role (`satrail_application`) or as the owner of the tables. Run `verify` nightly.",
    "Each row is tested as both roles ([tampering.test.ts](../../packages/postgres/test/tampering.test.ts)). `verify` checks signatures only when it runs with the service's settings, because the signing secret is not in the database.",
    "",
    "`verify` compares API keys, operator tokens, people, open sessions, companies with their limits, fees and freezes, webhook endpoints and wallet connections with the last value in the audit log. Until then, a key, operator token, person, webhook endpoint or wallet connection that was inserted is valid. An inserted session is not, because its hash requires the service's secret. `verify` does not find:",
    "",
    "- counters of limits set to zero, stored responses of idempotent requests replaced, or tasks and events deleted, which the application's role can do;",
    "- a Lightning or on-chain address moved to another company, a voucher's secret swapped, or a refund deleted together with its amount in the deposit, which the owner can do;",
    "- a record reset to a value that it had within ten seconds of its last change, because simultaneous changes may be logged in another order;",
    "- an entry that the owner deletes within a second, before it is linked, unless the entry records a change to one of these records;",
    "- a log that was re-signed by someone who also has the service's secret. To detect this, store the log's heads elsewhere (each is logged and sent to webhooks), and pass one with `--audit-head`.",
    "",
    "| tampering | as the application's role | as the owner |",
    "|---|---|---|",
    ...tamperings.map(({ what, application, owner }) => `| ${cell(what)} | ${cell(application)} | ${cell(owner)} |`),
    "",
    ...(absent.length === 0 ? [] : ["## What does not apply", "", "| | incident | why not here |", "|---|---|---|"]),
    ...absent.map(({ row, incident, reason }) => `| C${row} | ${cell(incident)} | ${cell(reason ?? "")} |`),
    ""
  ].join("\n")
}
