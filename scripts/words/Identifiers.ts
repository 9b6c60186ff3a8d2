import { files, read } from "../house/Floors.ts"

/** Words that say nothing to a reader who searches for the concept, with what to write instead. */
const unsearchable: Readonly<Record<string, string>> = {
  begun: "started",
  told: "badge, event, notice, reported",
  unsaid: "redacted",
  beyond: "exception, excess",
  woven: "injected"
}

const exported = /^export (?:abstract )?(?:const|function|class|interface|type|\* as) (\w+)/gm

/** Returns the exported identifiers whose words a reader would not search for. */
export const identifierProblems = (
  sources: ReadonlyArray<string> = files("packages/*/src/**/*.{ts,tsx}")
): ReadonlyArray<string> => sources.flatMap((file) => identifierProblemsIn(file, read(file)))

export const identifierProblemsIn = (file: string, source: string): ReadonlyArray<string> =>
  Array.from(source.matchAll(exported), ([, name = ""]) => name).flatMap((name) => {
    const words = name
      .replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1 ")
      .toLowerCase()
      .split(" ")
    return words.flatMap((word) =>
      unsearchable[word] === undefined ? [] : [`${file}: \`${name}\`: write ${unsearchable[word]}`]
    )
  })
