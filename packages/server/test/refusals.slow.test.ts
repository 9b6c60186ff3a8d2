import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Ledger from "@satrail/contracts/Ledger"
import { catalogue } from "@satrail/service/http/pages/Catalogue"
import { answerTo } from "@satrail/testing/answerTo"
import * as Customer from "./Customer.ts"
import { type Recipe, recipes, type World } from "./refusals/Recipes.ts"
import * as Service from "./Service.ts"
import * as Whole from "./Whole.ts"

let whole: Whole.Whole
let world: World
const faults = new Set<string>()

const raw = async (text: string): Promise<Service.Answer> => {
  const [head = "", body = ""] = (await answerTo(Number(new URL(whole.url).port), text)).split("\r\n\r\n")
  const read = JSON.parse(body)
  const status = Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1])
  return {
    status,
    headers: new Headers(),
    text: body,
    message: read.message,
    data: read.data,
    code: read.error?.code
  }
}

beforeAll(async () => {
  whole = await Whole.start({ SATRAIL_PUBLIC_URL: "https://pay.example.com" })
  const [shop, free] = [await whole.companyWith("paid"), await whole.companyWith("free")]
  await Customer.fund(shop, 1_000_000)
  await Customer.fund(free, 10_000)
  const second = (await whole.operate("/tokens", { name: "second operator", scopes: ["companies"] })).data
    .token
  /** A new key for a funded company, approved by a second operator. */
  const approved = async (body: object) => {
    const { data } = await whole.operate(`/companies/${shop.id}/api-keys`, body)
    await whole.ask("POST", `/operator/api-keys/${data.id}/approve`, { key: second })
    return data
  }
  world = {
    shop,
    free,
    domain: whole.domain,
    ask: whole.ask,
    operatorToken: Whole.operatorToken,
    keyFor: async (scope) => (await approved({ name: "one", scopes: [scope] })).key,
    operate: whole.operate,
    keyFrom: async (address) => {
      const allowed_from = { for: "everything", ranges: [address] }
      return (
        await whole.operate(`/companies/${shop.id}/api-keys`, { name: "one", scopes: ["read"], allowed_from })
      ).data.key
    },
    keyLimited: async (limits, ...scopes) => {
      const body = { name: "one", scopes: scopes.length === 0 ? ["send"] : scopes, limits }
      return (await approved(body)).key
    },
    outside: (ask) => Customer.data(201, shop.post("/sandbox/destination", ask)),
    fault: async (what) => {
      await Customer.data(200, shop.post("/sandbox/fault", { what, for_seconds: 60 }))
      faults.add(what)
    },
    advance: async (seconds) => {
      await Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: seconds }))
    },
    raw,
    until: Service.eventually,
    ended: async (id) => {
      await Customer.until(
        shop,
        `/v1/transactions/withdrawals/${id}`,
        ({ status }) => status !== "pending" && status !== "pending_approval"
      )
    }
  }
})
afterAll(() => whole.end())

/** The errors that have a recipe. A recipe that advances the clock by months comes last. */
const met = <Found>(all: Readonly<Record<string, Recipe<Found>>>) =>
  Object.entries(all)
    .flatMap(([code, recipe]) => ("run" in recipe ? [{ code, run: recipe.run }] : []))
    .toSorted((one, other) => Number(one.code === "cursor_too_old") - Number(other.code === "cursor_too_old"))

describe("each error has a recipe in the sandbox", () => {
  for (const { code, run } of met(recipes.failed)) {
    it(`sandbox recipe: a withdrawal fails with ${code}, and its amount is available again`, async () => {
      const before = await Customer.balance(world.shop)
      const id = await run(world)
      await world.ended(id)
      const { status, failure, amount_sats, fee_sats } = await Customer.fetchWithdrawal(world.shop, id)
      assert.deepStrictEqual([status, failure?.code], ["failed", code])
      // Another step of the recipe may have spent money, but the failed withdrawal has not.
      assert.isAtLeast(
        (await Customer.balance(world.shop)) +
          (code === "payment_hash_used" ? amount_sats + fee_sats + 1 : 0),
        before
      )
    })
  }

  for (const { code, run } of met(recipes.refused)) {
    it(`sandbox recipe: the recipe for the error ${code} causes that error`, async () => {
      const answer = await run(world)
      for (const what of faults) await whole.ask("DELETE", `/sandbox/fault/${what}`, { key: world.shop.key })
      faults.clear()
      const { status } =
        Object.entries(catalogue).find(([name]) => name === code)?.[1] ??
        assert.fail("the catalog has no such code")
      assert.deepStrictEqual([answer.status, answer.code], [status, code], answer.text)
    })
  }

  it("sandbox recipe: the books balance after all recipes", async () => {
    await whole.run(Ledger.auditAll)
    assert.isEmpty(whole.logged.filter((line) => line.includes("crashed")))
  })
})
