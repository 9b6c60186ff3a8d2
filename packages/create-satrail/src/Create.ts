import * as Choices from "./Choices.ts"
import * as Project from "./Project.ts"

/** The user's terminal. */
export interface Terminal {
  /** Asks a question and returns the answer. Undefined if the terminal is not interactive. */
  readonly ask: ((question: string) => Promise<string>) | undefined
  readonly print: (line: string) => void
}

type Ask = NonNullable<Terminal["ask"]>

/** Repeats a question until the answer is an option's name or number. An empty answer selects the default. */
const chosen = async <N extends string>(
  { ask, print }: { readonly ask: Ask; readonly print: Terminal["print"] },
  question: string,
  all: ReadonlyArray<readonly [N, string]>,
  fallback: N
): Promise<N> => {
  print(question)
  for (const [at, [name, about]] of all.entries()) print(`  ${at + 1}. ${name.padEnd(8)} ${about}`)
  for (;;) {
    const typed = (await ask(`Name or number (${fallback}): `)).trim()
    const found =
      typed === "" ? fallback : (all[Number(typed) - 1] ?? all.find(([name]) => name === typed))?.[0]
    if (found !== undefined) return found
    print(`There is no ${JSON.stringify(typed)}.`)
  }
}

/** Prompts for all missing options. */
const completed = async (
  { given, yes }: Choices.Asked,
  { ask, print }: Terminal
): Promise<Choices.Choices> => {
  if (yes)
    return {
      folder: given.folder ?? Choices.defaults.folder,
      kind: given.kind ?? Choices.defaults.kind,
      framework: given.framework ?? Choices.defaults.framework
    }
  if (ask === undefined) throw new Choices.Refused("This is not a terminal. Pass --yes, or --json.")
  const { folder, kind, framework } = Choices.defaults
  return {
    folder: given.folder ?? Choices.folderOf((await ask(`Folder (${folder}): `)).trim() || folder),
    kind: given.kind ?? (await chosen({ ask, print }, "What do you build?", Choices.kinds, kind)),
    framework:
      given.framework ?? (await chosen({ ask, print }, "Which framework?", Choices.frameworks, framework))
  }
}

/** Returns a new file as a unified diff. */
const diff = (file: string, text: string): string => {
  const lines = text.trimEnd().split("\n")
  return [
    `--- /dev/null`,
    `+++ ${file}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`)
  ].join("\n")
}

/** Asks whether to write the files, and shows them before if asked to. */
const isConfirmed = async (
  ask: Ask,
  print: Terminal["print"],
  files: Readonly<Record<string, string>>
): Promise<boolean> => {
  const typed = (await ask("Write them? (Y/n, or d to see them) ")).trim()
  if (!/^(?:d|diff)$/i.test(typed)) return /^(?:|y|yes)$/i.test(typed)
  for (const [file, text] of Object.entries(files)) print(diff(file, text))
  return isConfirmed(ask, print, files)
}

/** Lists the files and writes them after confirmation. */
export const run = async (
  args: ReadonlyArray<string>,
  { ask, print }: Terminal,
  node: string = process.versions.node
): Promise<void> => {
  const asked = Choices.read(args)
  if (asked.help) return print(Choices.help)
  Project.checkNode(node)
  const choices = await completed(asked, { ask, print })
  const { folder } = choices
  const files = Project.files(choices)
  if (!asked.json) {
    print(`These files will be written to ${folder}:`)
    for (const [file, text] of Object.entries(files))
      print(`  ${file} (${text.trimEnd().split("\n").length} lines)`)
  }
  if (!asked.yes && ask !== undefined && !(await isConfirmed(ask, print, files)))
    return print("Nothing was written.")
  Project.write(folder, files)
  const next = Project.next(folder)
  print(
    asked.json
      ? JSON.stringify({ ...choices, files: Object.keys(files), next })
      : ["Written. Next:", ...next.map((line) => `  ${line}`)].join("\n")
  )
}
