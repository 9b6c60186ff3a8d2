import { files, read } from "../house/Floors.ts"

/** Maximum numbers of words. Words are counted as `wc -w` counts them, including those in code. */
const limits = { all: 78_600, readme: 1_200, guide: 1_000 } as const

const words = (text: string): number => text.split(/\s+/).filter(Boolean).length

/** Returns the first line of text below the title. */
const firstLine = (text: string): string =>
  text.split("\n").find((line) => line.trim() !== "" && !line.startsWith("#") && !line.startsWith("<!--")) ??
  ""

/**
 * Reports pages that are too long, and pages of docs whose first sentence does not say who they are for, such
 * as "For developers who …".
 */
export const problemsOf = (pages: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const docs = Array.from(pages).filter(([file]) => file.startsWith("docs/"))
  const all = docs.reduce((sum, [, text]) => sum + words(text), 0)
  return [
    ...(all > limits.all ? [`docs: ${all} words: at most ${limits.all}`] : []),
    ...Array.from(pages).flatMap(([file, text]) => {
      const most =
        file === "README.md" ? limits.readme : file.startsWith("docs/guides/") ? limits.guide : limits.all
      return words(text) > most ? [`${file}: ${words(text)} words: at most ${most}`] : []
    }),
    ...docs.flatMap(([file, text]) =>
      firstLine(text).startsWith("For ")
        ? []
        : [`${file}: the first sentence must say who the page is for: "For developers who …"`]
    )
  ]
}

export const problems = (): ReadonlyArray<string> =>
  problemsOf(new Map(["README.md", ...files("docs/**/*.md")].map((file) => [file, read(file)])))
