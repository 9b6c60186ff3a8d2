import { globSync, readFileSync } from "node:fs"
import path from "node:path"

/** A test, or a promise of a contract that tests of every adapter run, that names the incidents it prevents. */
export interface Titled {
  readonly rows: ReadonlyArray<number>
  readonly file: string
  /** What it says, without the numbers. */
  readonly title: string
}

const root = path.resolve(import.meta.dirname, "../..")

// A sabotaged contract's tests name promises that must break: they prove nothing about an adapter.
const files = () =>
  globSync(["packages/*/test/**/*.ts", "packages/contracts/src/**/*.ts", "examples/*/test/*.ts", "test/*.ts"], {
    cwd: root,
    exclude: ["**/node_modules", "**/*.bite.test.ts"]
  }).toSorted()

// The first argument of a call, or the name of a member. What stands in a list is a title that somebody else has.
const titled = /(\(\s*)?(["`])((?:C\d+ )*C\d+): ((?:(?!\2)[^\\])+)\2(:)?/g

/** What is filled in when the tests run. */
const readable = (text: string) => text.replaceAll(/\$\{[^}]*\}/g, "…")

const titlesIn = (file: string, source: string): ReadonlyArray<Titled> =>
  [...source.matchAll(titled)].flatMap(({ 1: call, 3: numbers = "", 4: title = "", 5: member }) =>
    call === undefined && member === undefined
      ? []
      : [{ rows: numbers.split(" ").map((number) => Number(number.slice(1))), file, title: readable(title) }]
  )

/** Every one of them, by file. */
export const titles = (): ReadonlyArray<Titled> => files().flatMap((file) => titlesIn(file, readFileSync(path.join(root, file), "utf8")))
