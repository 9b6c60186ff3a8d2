import { globSync, readFileSync } from "node:fs"
import path from "node:path"

/**
 * A test whose title has the numbers of the incidents that it prevents, or a contract's guarantee with tests
 * for every adapter.
 */
export interface Titled {
  readonly rows: ReadonlyArray<number>
  readonly file: string
  /** The title without the numbers. */
  readonly title: string
}

const root = path.resolve(import.meta.dirname, "../..")

// Negative tests refer to guarantees that must break, which proves nothing about an adapter.
const files = () =>
  globSync(
    ["packages/*/test/**/*.ts", "packages/contracts/src/**/*.ts", "examples/*/test/*.ts", "test/*.ts"],
    { cwd: root, exclude: ["**/node_modules", "**/*.bite.test.ts"] }
  ).toSorted()

// The first argument of a call, or the name of a property. A title in a list belongs to a test elsewhere.
const titled = /(\(\s*)?(["`])((?:C\d+ )*C\d+): ((?:(?!\2)[^\\])+)\2(:)?/g

/** Values inserted when the tests run. */
const readable = (text: string) => text.replaceAll(/\$\{[^}]*\}/g, "…")

const titlesIn = (file: string, source: string): ReadonlyArray<Titled> =>
  [...source.matchAll(titled)].flatMap(({ 1: call, 3: numbers = "", 4: title = "", 5: member }) =>
    call === undefined && member === undefined
      ? []
      : [{ rows: numbers.split(" ").map((number) => Number(number.slice(1))), file, title: readable(title) }]
  )

/** Every such test, by file. */
export const titles = (): ReadonlyArray<Titled> =>
  files().flatMap((file) => titlesIn(file, readFileSync(path.join(root, file), "utf8")))
