import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import path from "node:path"
import { canaries, fits, patched } from "./defences/Canaries.ts"
import { incidents } from "./defences/Incidents.ts"
import { inPorts, mutants } from "./defences/Mutants.ts"
import { outcomes, outdated } from "./defences/Outcomes.ts"
import { titles } from "./defences/Titles.ts"

const root = path.dirname(import.meta.dirname)
const read = (file: string) => readFileSync(path.join(root, file), "utf8")
const rows = incidents.flatMap(([, rows]) => rows)
const all = titles()

const contracts = globSync("packages/{contracts,simulator,testing}/src/**/*.ts", { cwd: root }).map(read)

/**
 * Returns the pieces of a mutant's title that no source has. A title is composed of the titles of describe, the
 * adapter and the test, so each part is looked up alone.
 */
const missing = (test: string, titles: string): ReadonlyArray<string> => {
  const sources = [
    ...globSync(`${path.dirname(test)}/**/*.{ts,go}`, { cwd: root }).map(read),
    ...contracts,
    read("test/defences/Tampering.ts")
  ].join("\n")
  return titles
    .replaceAll("$", "")
    .split(/\||\.\*|: /)
    .filter((piece) => !new RegExp(piece, "i").test(sources))
}

describe("the incidents", () => {
  it("incidents: the list has sixty incidents, each once and in order", () => {
    assert.deepStrictEqual(
      rows.map(({ row }) => row),
      Array.from({ length: 60 }, (_, at) => at + 1)
    )
  })

  for (const { row, incident, reason } of rows) {
    it(`incidents: incident ${row} has a test, or a reason why it has none: ${incident}`, () => {
      const proofs = all.filter(({ rows }) => rows.includes(row))
      if (reason === undefined) assert.isNotEmpty(proofs)
      else assert.isEmpty(proofs, "a flaw marked as not applicable has no proofs")
    })
  }

  it("incidents: every number in a test title is the number of a known incident", () => {
    const known = rows.map(({ row }) => row)
    for (const { rows, title } of all) assert.includeMembers(known, [...rows], title)
  })
})

describe("the outcomes of payments", () => {
  const all = outcomes()

  it("outcomes: every line that decides whether a payment settled, failed or is unknown is listed with its test", async () => {
    const unlisted = (await all)
      .filter(({ tests }) => tests.length === 0)
      .map(({ file, code }) => `${file}: ${code}`)
    assert.deepStrictEqual(unlisted, [], "test the line, and add it to test/defences/Outcomes.ts")
  })

  it("outcomes: each listed line and test exists", async () => {
    assert.deepStrictEqual(outdated(await all), [])
  })
})

describe("the canaries", () => {
  it("mutants: each mutant has a unique name that is safe in a shell", () => {
    assert.strictEqual(new Set(mutants.map(({ name }) => name)).size, mutants.length)
    for (const { name } of mutants) assert.match(name, /^[a-z]+(-[a-z0-9]+)*$/)
  })

  it("mutants: the list includes the mutants of every port, and each mutant names the test that must fail", () => {
    const tables = new Set(inPorts.map(({ where }) => where))
    assert.sameMembers([...tables], globSync("packages/*/test/*.bite*.test.ts", { cwd: root }))
    for (const { name, noticedBy } of mutants) assert.isNotEmpty(noticedBy, name)
  })

  it("mutants: ordinary test runs contain no mutants", () => {
    assert.notMatch(read("vitest.config.ts"), /canar|defences/i)
  })

  it("mutants: a mutant fits its source whatever the formatting, and changes only the named declaration", () => {
    const [canary] = canaries
    assert.isDefined(canary)
    const bug = { ...canary, in: "b", find: "if (x > 1) return [x]", replace: "return []" }
    const source = (text: string) =>
      `const a = () => {\n  if (x > 1) return [x]\n}\n\n/** b */\nconst b = () => {\n  ${text}\n}\n`
    for (const text of [bug.find, "if (\n    x > 1\n  )\n    return [\n      x,\n    ]"])
      assert.strictEqual(patched(bug, source(text)), source(bug.replace))
    assert.strictEqual(fits(bug, source("if (x > 10) return [x]")), 0)
    assert.strictEqual(fits(bug, source(`${bug.find}\n  ${bug.find}`)), 2)
    assert.strictEqual(fits({ ...bug, in: "c" }, source(bug.find)), 0)
  })

  for (const canary of canaries) {
    it(`mutants: ${canary.name} fits its source and changes it`, () => {
      const { file, test, rows: caught = [] } = canary
      const source = read(file)
      assert.strictEqual(fits(canary, source), 1, `it must fit ${canary.in} in ${file} once`)
      assert.notStrictEqual(patched(canary, source), source)
      assert.isTrue(existsSync(path.join(root, test)), test)
      assert.deepStrictEqual(missing(test, canary.titles), [], `no test near ${test} has this title`)
      for (const row of caught)
        assert.isUndefined(rows.find((one) => one.row === row)?.reason, `row ${row} does not apply`)
    })
  }
})
