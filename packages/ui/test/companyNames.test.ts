import { assert, describe, it } from "@effect/vitest"
import { type Api, Refused } from "../src/console/Api.ts"
import { offered } from "../src/console/operator/CompanyNames.ts"

/** A service that lists two companies, and knows a third one that is older. */
const api = {
  call: async (operation: string, { params }: { readonly params?: { readonly id: string } } = {}) => {
    if (operation === "GET /operator/companies")
      return [
        { id: "2", name: "Harbor Coffee" },
        { id: "3", name: "Hill Bakery" }
      ]
    if (params?.id === "1") return { id: "1", name: "Old Mill" }
    throw new Refused(404, "not_found", "No such company.")
  }
} as unknown as Api

const newest = [
  ["2", "Harbor Coffee"],
  ["3", "Hill Bakery"]
] as const

describe("the companies of a list to choose from", () => {
  it("console: a company that is not among the newest is offered", async () => {
    assert.deepStrictEqual(await offered(api, "1"), [["1", "Old Mill"], ...newest])
    assert.deepStrictEqual(await offered(api, "3"), newest)
  })

  it("console: an unknown company stays chosen, and none is chosen in place of none", async () => {
    assert.deepStrictEqual(await offered(api, "9"), [["9", "9"], ...newest])
    assert.deepStrictEqual(await offered(api, ""), newest)
  })
})
