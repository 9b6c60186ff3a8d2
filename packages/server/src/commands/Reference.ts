import type { Completions } from "effect/cli"
import { wrongCode } from "../client/Output.ts"

type Command = Completions.CommandDescriptor

/** The commands that do something, by what is typed. */
const commandsIn = (one: Command, path: string): ReadonlyArray<readonly [path: string, command: Command]> =>
  one.subcommands.length === 0 ? [[path, one]] : one.subcommands.flatMap((sub) => commandsIn(sub, `${path} ${sub.name}`))

const row = ({ name, description, type }: Completions.FlagDescriptor | Completions.ArgumentDescriptor, shown: string) => {
  const values = type._tag === "Choice" ? ` (${type.values.join(", ")})` : ""
  return `| \`${shown}${name}\` | ${description}${values} |`
}

const section = ([path, { description, arguments: wanted, flags }]: readonly [path: string, command: Command]): string => {
  const rows = [...wanted.map((one) => row(one, "")), ...flags.map((one) => row(one, "--"))]
  return [
    `## ${[path, ...wanted.map(({ name }) => name.toUpperCase())].join(" ")}`,
    `${description}.`,
    ...(rows.length === 0 ? [] : [["| argument, option | meaning |", "|---|---|", ...rows].join("\n")])
  ].join("\n\n")
}

/** Every command with its arguments and options, in Markdown. */
export const page = (satrail: Command): string =>
  [
    "# Commands",
    `\`npm run satrail -- COMMAND\`, or \`npx @satrail/server COMMAND\` with the installed package. \`COMMAND --help\` shows the same. The exit code is 0 when the command was carried out and 1 when not; \`check\` ends with 1 and \`reconcile\` and \`verify\` end with ${wrongCode} where they find something wrong.`,
    ...commandsIn(satrail, satrail.name).map(section)
  ]
    .join("\n\n")
    .concat("\n")
