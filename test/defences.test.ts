import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import path from "node:path"
import { canaries, fits, patched } from "./defences/Canaries.ts"
import { incidents } from "./defences/Incidents.ts"
import { inPorts, mutants } from "./defences/Mutants.ts"
import { titles } from "./defences/Titles.ts"

const root = path.dirname(import.meta.dirname)
const read = (file: string) => readFileSync(path.join(root, file), "utf8")
const rows = incidents.flatMap(([, rows]) => rows)
const all = titles()

describe("the incidents", () => {
  it("incidents: sixty, each once, in order", () => {
    assert.deepStrictEqual(
      rows.map(({ row }) => row),
      Array.from({ length: 60 }, (_, at) => at + 1)
    )
  })

  for (const { row, incident, reason } of rows) {
    it(`incidents: row ${row} has a test, or a reason to have none: ${incident}`, () => {
      const proofs = all.filter(({ rows }) => rows.includes(row))
      if (reason === undefined) assert.isNotEmpty(proofs)
      else assert.isEmpty(proofs, "it applies, as somebody has shown")
    })
  }

  it("incidents: no title names another number", () => {
    const known = rows.map(({ row }) => row)
    for (const { rows, title } of all) assert.includeMembers(known, [...rows], title)
  })
})

describe("the canaries", () => {
  it("mutants: each has a name that a shell takes", () => {
    assert.strictEqual(new Set(mutants.map(({ name }) => name)).size, mutants.length)
    for (const { name } of mutants) assert.match(name, /^[a-z]+(-[a-z0-9]+)*$/)
  })

  it("mutants: those of every port are found, each with the test that must fail", () => {
    const tables = new Set(inPorts.map(({ where }) => where))
    assert.sameMembers([...tables], globSync("packages/*/test/*.bite*.test.ts", { cwd: root }))
    for (const { name, noticedBy } of mutants) assert.isNotEmpty(noticedBy, name)
  })

  it("mutants: none is in an ordinary run of the tests", () => {
    assert.notMatch(read("vitest.config.ts"), /canar|defences/i)
    assert.strictEqual(process.env["SATRAIL_CANARY"], undefined)
  })

  for (const canary of canaries) {
    it(`mutants: ${canary.name} fits its source, and changes it`, () => {
      const { file, test, rows: caught } = canary
      const source = read(file)
      assert.strictEqual(fits(canary, source), 1, `its text must be in ${file} once`)
      assert.notStrictEqual(patched(canary, source), source)
      assert.isTrue(existsSync(path.join(root, test)), test)
      for (const row of caught) assert.isUndefined(rows.find((one) => one.row === row)?.reason, `row ${row} does not apply`)
    })
  }
})
