// `npm run words`: checks the English of pages, messages, comments and test titles. It reports private idioms
// (Idioms.ts has replacements), words missing from both the American English dictionary and dictionary.txt,
// guide sentences and pages that are too long, exported identifiers that no reader would search for, and pages of docs that do not say who they are for. Pass paths to
// check only those.
import en from "dictionary-en"
import nspell from "nspell"
import process from "node:process"
import { read } from "../house/Floors.ts"
import { idioms } from "./Idioms.ts"
import { identifierProblems } from "./Identifiers.ts"
import { problems } from "./Lengths.ts"
import { passages, type Passage } from "./Prose.ts"

const maxWords = 40

const spelling = nspell(Buffer.from(en.aff), Buffer.from(en.dic))
const own = new Set(read("scripts/words/dictionary.txt").split("\n"))
const known = new Map<string, boolean>()

const isKnown = (word: string): boolean => {
  const stem = word.toLowerCase().replace(/'s$/, "")
  const found =
    known.get(word) ?? (own.has(stem) || spelling.correct(word) || /^(?:another|else)'s$/.test(word))
  known.set(word, found)
  return found
}

/**
 * Returns the plain words in a text. Identifiers, abbreviations and numbers are not plain words, because they
 * contain other characters.
 */
const wordsOf = (text: string) =>
  text.match(/(?<![\w.@/$#&-])[A-Za-z][a-z]+(?:['’](?:s|t|re|ve|ll|d))?(?![\w@/(=]|\.\w|-\w)/g) ?? []

const sentencesOf = (text: string) => text.split(/(?<=[.!?:;])\s+/)

const findings = ({ file, line, text }: Passage): ReadonlyArray<string> => {
  const where = `${file}:${line}`
  return [
    ...idioms.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(text)?.[0]
      return found === undefined ? [] : [`${where}: "${found}": write ${instead}`]
    }),
    ...wordsOf(text)
      .filter((word) => !isKnown(word.replace("’", "'")))
      .map((word) => `${where}: unknown word "${word}"`),
    ...(file.startsWith("docs/guides/")
      ? sentencesOf(text)
          .map((sentence) => sentence.split(/\s+/).length)
          .filter((count) => count > maxWords)
          .map((count) => `${where}: a sentence of ${count} words: at most ${maxWords}`)
      : [])
  ]
}

const only = process.argv.slice(2)
const found = passages()
  .filter(({ file }) => only.length === 0 || only.some((prefix) => file.startsWith(prefix)))
  .flatMap(findings)
const all = only.length > 0 ? found : [...found, ...problems(), ...identifierProblems()]
for (const line of all) console.log(line)
console.log(`${all.length} findings`)
process.exitCode = all.length === 0 ? 0 : 1
