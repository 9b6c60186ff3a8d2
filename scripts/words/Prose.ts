import { files, read } from "../house/Floors.ts"

/** A piece of human-readable text, and its location. */
export interface Passage {
  readonly file: string
  readonly line: number
  readonly text: string
}

const lineAt = (source: string, index: number): number => source.slice(0, index).split("\n").length

/** Removes everything that is not prose: code, link targets, placeholders. */
const bare = (text: string): string =>
  text
    .replaceAll(/`[^`\n]*`/g, " code ")
    .replaceAll(/\$\{[^}]*\}/g, " code ")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/<[^<>\n]+>/g, " ")
    .replaceAll(/https?:\/\/\S+/g, " code ")
    .replaceAll(/\\[nrt]/g, " ")
    .replaceAll(/(?<=^|\s)@example\b[^]*?(?=$|@\w)/g, " ")

/**
 * Returns the paragraphs, list items and table cells of a page. Code blocks are replaced with empty lines, so
 * that line numbers stay correct.
 */
const ofPage = (file: string): ReadonlyArray<Passage> => {
  const text = read(file).replaceAll(/^(```|~~~)[^]*?^\1\s*$/gm, (block) => block.replaceAll(/[^\n]/g, ""))
  const found: Array<Passage> = []
  let open: { line: number; text: string } | undefined
  const close = () => {
    if (open !== undefined) found.push({ file, line: open.line, text: bare(open.text) })
    open = undefined
  }
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "" || /^(?: {4}|\t)/.test(line)) close()
    else if (line.startsWith("|")) {
      close()
      for (const cell of line.split("|"))
        if (/[a-z]/i.test(cell)) found.push({ file, line: at + 1, text: bare(cell.trim()) })
    } else if (/^\s*(?:[-*]|\d+\.|#+|>) /.test(line)) {
      close()
      open = { line: at + 1, text: line.replace(/^\s*(?:[-*]|\d+\.|#+|>) /, "") }
    } else if (open === undefined) open = { line: at + 1, text: line.trim() }
    else open.text += ` ${line.trim()}`
  }
  close()
  return found
}

/**
 * Matches comments and strings. Everything else in a source is code.
 */
const tokens = /("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*\*?([^]*?)\*\/|(?<=^|\s)\/\/ ?(.*)$/gm

const ofSource = (file: string): ReadonlyArray<Passage> => {
  const source = read(file)
  return Array.from(source.matchAll(tokens)).flatMap((match) => {
    const [, quoted, block, line] = match
    const text = quoted?.slice(1, -1) ?? block?.replaceAll(/^\s*\* ?/gm, " ").trim() ?? line ?? ""
    if (/^(?:oxlint|@ts-)/.test(text) || text.split(/\s+/).length < 3) return []
    if (quoted !== undefined && /\b(?:find|replace): $/.test(source.slice(0, match.index))) return []
    // Skip SQL, markup and patterns.
    if (
      quoted !== undefined &&
      (!/^(?:\$\{[^}]*\}|[A-Za-z][\w'’-]*)(?:[ ,:;]|$)/.test(text) ||
        /\b(?:SELECT|INSERT|UPDATE|CREATE|DELETE|as materialized)\b|[{}<>;]\n/.test(text))
    )
      return []
    return [{ file, line: lineAt(source, match.index), text: bare(text).replaceAll(/\s+/g, " ") }]
  })
}

export const pages = [
  "*.md",
  "docs/**/*.md",
  "packages/*/*.md",
  "examples/**/*.md",
  "deploy/**/*.md"
].flatMap(files)
export const sources = [
  "packages/**/*.{ts,tsx,go}",
  "examples/**/*.ts",
  "scripts/**/*.{ts,mjs}",
  "test/**/*.ts"
]
  .flatMap(files)
  .filter(
    (file) =>
      !/\/(?:words\/(?!en)\w+|Idioms|wire|assets\/.*)\.ts$|\/(?:vectors|corpus|fixtures)\//i.test(file)
  )

export const passages = (): ReadonlyArray<Passage> => [...pages.flatMap(ofPage), ...sources.flatMap(ofSource)]
