import { assert, describe, it } from "@effect/vitest"
import type { Api } from "../src/console/Api.ts"
import { offered } from "../src/console/operator/CompanyNames.ts"
import type { Company } from "../src/console/wire.ts"

/** A service that lists two companies and has an older third one. */
const visit = {
  api: {
    call: async () => [
      { id: "2", name: "Harbor Coffee" },
      { id: "3", name: "Hill Bakery" }
    ]
  } as unknown as Api,
  companies: async (ids: ReadonlyArray<string>) =>
    new Map(ids.includes("1") ? [["1", { id: "1", name: "Old Mill", plan: "free", frozen: null, created_at: "" } satisfies Company]] : [])
}

const newest = [
  ["2", "Harbor Coffee"],
  ["3", "Hill Bakery"]
] as const

describe("the companies in a selection list", () => {
  it("console: a company that is not among the newest can be selected", async () => {
    assert.deepStrictEqual(await offered(visit, "1"), [["1", "Old Mill"], ...newest])
    assert.deepStrictEqual(await offered(visit, "3"), newest)
  })

  it("console: a selected company that is unknown is still offered, and if no company is selected, only the newest companies are offered", async () => {
    assert.deepStrictEqual(await offered(visit, "9"), [["9", "9"], ...newest])
    assert.deepStrictEqual(await offered(visit, ""), newest)
  })
})
