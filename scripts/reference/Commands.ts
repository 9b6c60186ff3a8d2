import type { Completions } from "effect/cli"
import { uncheckedCode, wrongCode } from "../../packages/server/src/client/Output.ts"

type Command = Completions.CommandDescriptor

/** Lists the executable commands by their full path. */
const commandsIn = (one: Command, path: string): ReadonlyArray<readonly [path: string, command: Command]> =>
  one.subcommands.length === 0
    ? [[path, one]]
    : one.subcommands.flatMap((sub) => commandsIn(sub, `${path} ${sub.name}`))

const row = (
  { name, description, type }: Completions.FlagDescriptor | Completions.ArgumentDescriptor,
  shown: string
) => {
  const values = type._tag === "Choice" ? ` (${type.values.join(", ")})` : ""
  return `| \`${shown}${name}\` | ${description}${values} |`
}

const table = (rows: ReadonlyArray<string>) =>
  rows.length === 0 ? [] : [["| argument, option | meaning |", "|---|---|", ...rows].join("\n")]

/** Nearly every command has this option, so the page describes it once. */
const isJson = ({ name }: Completions.FlagDescriptor) => name === "json"

/** The page describes an argument or option once if this number of commands describe it alike. */
const leastShared = 4

const rowsOf = ({ arguments: wanted, flags }: Command) => ({
  wanted: wanted.map((one) => row(one, "")),
  options: flags
    .filter((one) => !isJson(one))
    .map((one) => ({ name: `\`--${one.name}\``, text: row(one, "--") }))
})

const section = (
  shared: ReadonlySet<string>,
  [path, command]: readonly [path: string, command: Command]
): string => {
  const { wanted, options } = rowsOf(command)
  const rows = [...wanted, ...options.map(({ text }) => text)].filter((one) => !shared.has(one))
  const others = options.flatMap(({ name, text }) => (shared.has(text) ? [name] : []))
  return [
    `## ${[path, ...command.arguments.map(({ name }) => name.toUpperCase())].join(" ")}`,
    `${command.description}.${others.length === 0 ? "" : ` Also takes ${others.join(" and ")}.`}`,
    ...table(rows)
  ].join("\n\n")
}

/** Renders every command with its arguments and options in Markdown. */
export const page = (satrail: Command): string => {
  const commands = commandsIn(satrail, satrail.name)
  const others = commands.flatMap(([path, { flags }]) => (flags.some(isJson) ? [] : [`\`${path}\``]))
  const all = commands.map(([, command]) => rowsOf(command))
  const rows = [
    ...all.flatMap(({ wanted }) => wanted),
    ...all.flatMap(({ options }) => options.map(({ text }) => text))
  ]
  const shared = new Set(rows.filter((one) => rows.filter((other) => other === one).length >= leastShared))
  return [
    "# Commands",
    `For operators: every command with its arguments and options. Run \`npm run satrail -- COMMAND\`, or \`npx @satrail/server COMMAND\` with the installed package. \`COMMAND --help\` can say more. The exit code is 0 on success and 1 on failure. If they find a problem, \`check\` exits with 1, and \`reconcile\` and \`verify\` exit with ${wrongCode}; without a recent run, \`reconcile\` exits with ${uncheckedCode}. With \`--json\`, a command prints one line of JSON. These commands don't have that option: ${others.join(", ")}.`,
    "Several commands share these:",
    ...table([...shared]),
    ...commands.map((one) => section(shared, one))
  ]
    .join("\n\n")
    .concat("\n")
}
