import { assert, describe, it } from "@effect/vitest"
import type { Api } from "../src/console/Api.ts"
import { offered } from "../src/console/operator/CompanyNames.ts"
import type { Company } from "../src/console/wire.ts"

/** A service that lists two companies and has an older third one. */
const visit = {
  api: {
    page: async () => ({
      data: [
        { id: "2", name: "Harbor Coffee" },
        { id: "3", name: "Hill Bakery" }
      ],
      next: "2"
    })
  } as unknown as Api,
  companies: async (ids: ReadonlyArray<string>) =>
    new Map(
      ids.includes("1")
        ? [["1", { id: "1", name: "Old Mill", plan: "free", frozen: null, created_at: "" } satisfies Company]]
        : []
    )
}

const options = async (chosen: string) => (await offered(visit, chosen)).options

const newest = [
  ["2", "Harbor Coffee"],
  ["3", "Hill Bakery"]
] as const

describe("the companies in a selection list", () => {
  it("console: a company that is not among the newest can be selected", async () => {
    assert.deepStrictEqual(await options("1"), [["1", "Old Mill"], ...newest])
    assert.deepStrictEqual(await options("3"), newest)
  })

  it("console: a selected company that is unknown is still offered, and if no company is selected, only the newest companies are offered", async () => {
    assert.deepStrictEqual(await options("9"), [["9", "9"], ...newest])
    assert.deepStrictEqual(await options(""), newest)
  })

  it("console: a list of the newest companies offers a field for the id of another one, which is kept", async () => {
    const { companyChoice, companyIn } = await import(
      new URL("../src/console/operator/Common.ts", import.meta.url).href
    )
    // Imported without their types, which would bring those of the DOM into the other tests.
    const { default: render } = await import(import.meta.resolve("preact-render-to-string"))
    const { h } = await import(import.meta.resolve("preact"))
    const html = async (form: URLSearchParams) =>
      render(h("div", null, await companyChoice({ ...visit, form }, "Company", "2")))
    const shown = await html(new URLSearchParams())
    assert.match(shown, /<option value="2" selected>.*<input[^>]* id="company-id" name="company"/)
    assert.include(shown, "The list has the newest 1,000.")
    const form = new URLSearchParams("company=2&company=+1+")
    assert.strictEqual(companyIn({ form }), "1")
    assert.include(await html(form), '<option value="1" selected>Old Mill</option>')
    assert.isUndefined(companyIn({ form: new URLSearchParams("company=&company=") }))
  })
})
