import { assert, it } from "@effect/vitest"
import { identifierProblemsIn } from "../scripts/words/Identifiers.ts"
import { problemsOf } from "../scripts/words/Lengths.ts"

const page = (words: number) =>
  `<!-- Made from the code -->\n# Title\n\nFor readers. ${"word ".repeat(words - 10)}\n`

it("words: pages within their limits have no problems", () => {
  const pages = new Map([
    ["README.md", "word ".repeat(1200)],
    ["docs/guides/a.md", page(1000)],
    ["docs/reference/b.md", page(5000)]
  ])
  assert.deepStrictEqual(problemsOf(pages), [])
})

it("words: a long README, a long guide and long documentation are reported", () => {
  const pages = new Map([
    ["README.md", "word ".repeat(1201)],
    ["docs/guides/a.md", page(1001)],
    ["docs/reference/b.md", page(77_600)]
  ])
  assert.deepStrictEqual(problemsOf(pages), [
    "docs: 78601 words: at most 78600",
    "README.md: 1201 words: at most 1200",
    "docs/guides/a.md: 1001 words: at most 1000"
  ])
})

it("words: a page whose first sentence does not name its readers is reported", () => {
  assert.deepStrictEqual(problemsOf(new Map([["docs/a.md", "# Title\n\nEvery response is JSON.\n"]])), [
    'docs/a.md: the first sentence must say who the page is for: "For developers who …"'
  ])
})

it("words: an exported identifier that no reader would search for is reported", () => {
  const source = "export const deliveryTold = 1\nexport interface Badge {}\nconst told = 2\n"
  assert.deepStrictEqual(identifierProblemsIn("a.ts", source), [
    "a.ts: `deliveryTold`: write badge, event, notice, reported"
  ])
})
