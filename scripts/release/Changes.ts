// Reads the release notes in changes/ and determines which versions they permit. Each note has its own file, so
// that parallel changes do not conflict.
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"

/** The kinds of notes, in the order of the changelog. */
const kinds = ["breaking", "feature", "fix"] as const
type Kind = (typeof kinds)[number]

export interface Note {
  readonly file: string
  readonly kind: Kind
  readonly text: string
}

/** Parses a note. Throws an error that explains the problem if it is invalid. */
export const noteOf = (file: string, source: string): Note => {
  const [, named = "", said = ""] = /^(\w+): *([^]*)$/.exec(source.trim()) ?? []
  const kind = kinds.find((one) => one === named)
  const text = said.replaceAll(/\s+/g, " ")
  if (kind === undefined || text === "") {
    throw new Error(
      `${file} must begin with one of ${kinds.join(", ")}, a colon, and the text for users: "fix: An invoice …"`
    )
  }
  return { file, kind, text }
}

export const notesIn = (folder: string): ReadonlyArray<Note> =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .toSorted()
    .map((file) =>
      noteOf(path.join(path.basename(folder), file), readFileSync(path.join(folder, file), "utf8"))
    )

const numbers = (version: string) => version.split(/[.-]/, 3).map(Number)

/**
 * Returns the reason why version `next` must not follow `before` with these notes, or undefined if it may.
 * Before 1.0 a minor version may break compatibility.
 */
export const problemWith = (next: string, before: string, notes: ReadonlyArray<Note>): string | undefined => {
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(next))
    return `a version must have a form such as 0.2.0 (got ${next})`
  const [[major = 0, minor = 0, patch = 0], [majorBefore = 0, minorBefore = 0, patchBefore = 0]] = [
    numbers(next),
    numbers(before)
  ]
  const steps = [major - majorBefore, minor - minorBefore, patch - patchBefore]
  if ((steps.find((step) => step !== 0) ?? 0) < 0) return `${next} is before ${before}`
  const isPatch = major === majorBefore && minor === minorBefore && patch > patchBefore
  const big = isPatch ? notes.find(({ kind }) => kind !== "fix") : undefined
  return big && `${next} may only contain fixes, but ${big.file} says "${big.kind}"`
}

/**
 * Returns the changelog with the notes added to the section of a version. If there is no such section, it is
 * added at the top.
 */
export const withNotes = (changelog: string, version: string, notes: ReadonlyArray<Note>): string => {
  if (notes.length === 0) return changelog
  const lines = kinds.flatMap((kind) =>
    notes
      .filter((note) => note.kind === kind)
      .map(({ text }) => `- ${kind === "breaking" ? "**Breaking:** " : ""}${text}\n`)
  )
  const sections = changelog.split(/^(?=## )/m)
  const at = sections.findIndex((section) => section.startsWith(`## ${version}\n`))
  const [head = "", ...versions] = sections
  if (at < 0) return [head, `## ${version}\n\n${lines.join("")}\n`, ...versions].join("")
  const end = at === sections.length - 1 ? "" : "\n"
  return sections
    .map((section, index) => (index === at ? `${section.trimEnd()}\n${lines.join("")}${end}` : section))
    .join("")
}
