import type { Completions } from "effect/cli"
import { uncheckedCode, wrongCode } from "../../packages/server/src/client/Output.ts"

type Command = Completions.CommandDescriptor

/** Lists the executable commands by their full path. */
const commandsIn = (one: Command, path: string): ReadonlyArray<readonly [path: string, command: Command]> =>
  one.subcommands.length === 0 ? [[path, one]] : one.subcommands.flatMap((sub) => commandsIn(sub, `${path} ${sub.name}`))

const row = ({ name, description, type }: Completions.FlagDescriptor | Completions.ArgumentDescriptor, shown: string) => {
  const values = type._tag === "Choice" ? ` (${type.values.join(", ")})` : ""
  return `| \`${shown}${name}\` | ${description}${values} |`
}

/** Nearly every command has this option, so the page describes it once. */
const isCommon = ({ name }: Completions.FlagDescriptor) => name === "json"

const section = ([path, { description, arguments: wanted, flags }]: readonly [path: string, command: Command]): string => {
  const rows = [...wanted.map((one) => row(one, "")), ...flags.filter((one) => !isCommon(one)).map((one) => row(one, "--"))]
  return [
    `## ${[path, ...wanted.map(({ name }) => name.toUpperCase())].join(" ")}`,
    `${description}.`,
    ...(rows.length === 0 ? [] : [["| argument, option | meaning |", "|---|---|", ...rows].join("\n")])
  ].join("\n\n")
}

/** Renders every command with its arguments and options in Markdown. */
export const page = (satrail: Command): string => {
  const commands = commandsIn(satrail, satrail.name)
  const others = commands.flatMap(([path, { flags }]) => (flags.some(isCommon) ? [] : [`\`${path}\``]))
  return [
    "# Commands",
    `For operators: every command with its arguments and options. Run \`npm run satrail -- COMMAND\`, or \`npx @satrail/server COMMAND\` with the installed package. \`COMMAND --help\` shows the same text. The exit code is 0 on success and 1 on failure. If they find a problem, \`check\` exits with 1, and \`reconcile\` and \`verify\` exit with ${wrongCode}; without a recent run, \`reconcile\` exits with ${uncheckedCode}. With \`--json\`, a command prints one line of JSON. These commands don't have that option: ${others.join(", ")}.`,
    ...commands.map(section)
  ]
    .join("\n\n")
    .concat("\n")
}
