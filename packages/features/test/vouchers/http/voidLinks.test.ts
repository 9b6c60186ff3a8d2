import { afterAll, assert, describe, it } from "@effect/vitest"
import { Companies } from "@satrail/core/accounts/Companies"
import * as Decimal from "@satrail/core/base/Decimal"
import { Vouchers } from "../../../src/vouchers/core/Vouchers.ts"
import { made } from "@satrail/core/ledger/Answer"
import { Effect } from "effect"
import { bad, issuePaths, operatorToken, seen, start } from "../../../../http/test/Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)

type Company = Awaited<ReturnType<typeof service.company>>

const keyId = async ({ id }: Company) => (await service.keyFor(id, "send")).split("_")[2] ?? ""
const person = async ({ id }: Company): Promise<string> =>
  (
    await service.ask("POST", "/operator/people", {
      key: operatorToken,
      body: { company_id: id, name: "Ada", role: "viewer" }
    })
  ).body.data.id

const platformKey = async (): Promise<string> =>
  (
    await service.ask("POST", "/operator/platform-keys", {
      key: operatorToken,
      body: { name: "marketplace", scopes: ["read"] }
    })
  ).body.data.id

/** Creates a voucher as this key or person, and returns its id. */
const open = ({ id }: Company, maker: string): Promise<string> =>
  service.run(
    Effect.gen(function* () {
      const company = yield* (yield* Companies).get(id)
      const apiKey = { id: maker, limits: null, spendsAs: null }
      const asked = {
        amount: Decimal.make(10n),
        currency: "sats",
        description: "",
        expirySeconds: 3600,
        metadata: {}
      } as const
      return (yield* Effect.flatMap((yield* Vouchers).create({ company, apiKey, ...asked }), made)).voucher.id
    })
  )

const statuses = ({ key }: Company, ids: ReadonlyArray<string>) =>
  Promise.all(
    ids.map(async (id) => (await service.ask("GET", `/v1/vouchers/${id}`, { key })).body.data.status)
  )
const held = async ({ key }: Company): Promise<number> =>
  (await service.ask("GET", "/v1/transactions/balance", { key })).body.data.held_sats

describe("links of a revoked key or a removed person", () => {
  for (const [path, makes, isOperators] of [
    ["/v1/api-keys", keyId, false],
    ["/operator/api-keys", keyId, true],
    ["/v1/people", person, false],
    ["/operator/people", person, true]
  ] as const)
    it(`voucher: DELETE ${path}/{id} leaves the maker's links open, and with links=void cancels them, and what is left if repeated`, async () => {
      const company = await service.company()
      await service.fund(company.key, 100_000)
      const [maker, other] = [await makes(company), await makes(company)]
      const kept = [await open(company, other)]
      const before = await held(company)
      const links = [await open(company, maker), await open(company, maker)]
      const all = await held(company)
      assert.isAbove(all, before)
      const end = (query = "") =>
        service.ask("DELETE", `${path}/${maker}${query}`, { key: isOperators ? operatorToken : company.key })

      // The response is the person's record, which has no such field.
      const counted = (links: number) => (makes === keyId ? links : undefined)

      const ended = await end()
      assert.strictEqual(ended.status, 200, ended.text)
      assert.notProperty(ended.body.data, "voided_links")
      assert.deepStrictEqual([await statuses(company, links), await held(company)], [["open", "open"], all])
      const wrong = await end("?links=keep")
      assert.deepStrictEqual([seen(wrong), issuePaths(wrong.body)], [bad(400, "malformed"), ["links"]])

      assert.strictEqual((await end("?links=void")).body.data.voided_links, counted(2))
      assert.deepStrictEqual(
        [await statuses(company, links), await held(company)],
        [["canceled", "canceled"], before]
      )
      // As after a process that stopped before it voided all.
      await open(company, maker)
      assert.strictEqual((await end("?links=void")).body.data.voided_links, counted(1))
      assert.strictEqual((await end("?links=void")).body.data.voided_links, counted(0))
      assert.deepStrictEqual([await statuses(company, kept), await held(company)], [["open"], before])

      const direct = await service.ask("DELETE", `${path}/${other}?links=void`, {
        key: isOperators ? operatorToken : company.key
      })
      assert.strictEqual(direct.body.data.voided_links, counted(1))
      assert.strictEqual(await held(company), 0)
    })

  it("voucher: DELETE /operator/platform-keys/{id} leaves the key's links open, and with links=void cancels them in every company", async () => {
    const companies = [await service.company(), await service.company()]
    for (const { key } of companies) await service.fund(key, 100_000)
    const [maker, other] = [await platformKey(), await platformKey()]
    const opened = (maker: string) => Promise.all(companies.map((company) => open(company, maker)))
    const [links, kept] = [await opened(maker), await opened(other)]
    const standing = (ids: ReadonlyArray<string>) =>
      Promise.all(companies.map(async (company, n) => (await statuses(company, [ids[n] ?? ""]))[0]))
    const end = (query = "") =>
      service.ask("DELETE", `/operator/platform-keys/${maker}${query}`, { key: operatorToken })
    assert.strictEqual((await end()).status, 200)
    assert.deepStrictEqual(await standing(links), ["open", "open"])
    assert.deepStrictEqual(seen(await end("?links=keep")), bad(400, "malformed"))
    assert.strictEqual((await end("?links=void")).status, 200)
    assert.deepStrictEqual(
      [await standing(links), await standing(kept)],
      [
        ["canceled", "canceled"],
        ["open", "open"]
      ]
    )
    // As after a process that stopped before it voided all.
    const later = await opened(maker)
    await end("?links=void")
    assert.deepStrictEqual(await standing(later), ["canceled", "canceled"])
  })

  it("console: a voucher names its maker, and the operator's page of the company lists them, also after the key was revoked or the person removed", async () => {
    const company = await service.company()
    await service.fund(company.key, 100_000)
    const cookie = await service.signIn(company.key)
    const operator = await service.signIn(operatorToken)
    for (const [at, makes] of [
      ["/operator/api-keys", keyId],
      ["/operator/people", person]
    ] as const) {
      const maker = await makes(company)
      const voucher = await open(company, maker)
      for (const isEnded of [false, true]) {
        if (isEnded) await service.ask("DELETE", `${at}/${maker}`, { key: operatorToken })
        const page = await service.page(cookie, `console/vouchers/${voucher}`)
        assert.match(page, makes === person ? /Created by<.{0,80}Ada/s : /Created by<.{0,80}test/s)
        assert.include(await service.page(operator, `operator/console/companies/${company.id}`), maker)
      }
    }
  })

  it("console: the forms that revoke a key or remove a person also cancel its links if the box is checked, and their pages cancel what is left afterwards", async () => {
    const company = await service.company()
    await service.fund(company.key, 100_000)
    const sessions = {
      company: await service.signIn(company.key),
      operator: await service.signIn(operatorToken)
    }
    for (const [page, makes, cookie, fields] of [
      ["console/keys/ID/revoke", keyId, sessions.company, {}],
      ["operator/console/keys/ID", keyId, sessions.operator, { do: "revoke" }],
      ["console/people/ID", person, sessions.company, { do: "remove" }],
      ["operator/console/people/ID", person, sessions.operator, { do: "remove" }],
      ["operator/console/platform-keys/ID", platformKey, sessions.operator, { do: "revoke" }]
    ] as const) {
      const credential = cookie === sessions.company ? company.key : operatorToken
      for (const [links, status] of [
        [{}, "open"],
        [{ links: "void" }, "canceled"]
      ] as const) {
        const maker = await makes(company)
        const voucher = await open(company, maker)
        const at = page.replace("ID", maker)
        assert.match(await service.page(cookie, at), /type="checkbox" name="links" value="void"/, page)
        const submit = async (more: Readonly<Record<string, string>>) => {
          const body = new URLSearchParams({ ...fields, ...more, credential })
          const headers = { cookie, "sec-fetch-site": "same-origin" }
          const sent = await service.handler(
            new Request(`http://service/${at}`, { method: "POST", headers, body })
          )
          assert.strictEqual(sent.status, 303, page)
        }
        await submit(links)
        assert.deepStrictEqual(await statuses(company, [voucher]), [status], page)
        const later = await open(company, maker)
        assert.match(await service.page(cookie, at), /type="hidden" name="links" value="void"/, page)
        await submit({ links: "void" })
        assert.deepStrictEqual(await statuses(company, [voucher, later]), ["canceled", "canceled"], page)
      }
    }
  })
})
