import { afterAll, assert, it } from "@effect/vitest"
import { operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)

const cookie = await service.signIn(operatorToken)
const at = (path: string) => `http://service/operator/console/${path}`
const look = (path: string) =>
  service.send(new Request(at(path), { headers: { cookie, "sec-fetch-site": "same-origin" } }))
const open = async (path: string): Promise<string> => (await look(path)).text
const post = async (path: string, form: Array<[string, string]>): Promise<string> =>
  (
    await service.send(
      new Request(at(path), {
        method: "POST",
        headers: {
          cookie,
          "sec-fetch-site": "same-origin",
          "content-type": "application/x-www-form-urlencoded"
        },
        body: String(new URLSearchParams([...form, ["credential", operatorToken]]))
      })
    )
  ).text

it("console: an operator issues a platform key, sees its state, and revokes it", async () => {
  assert.include(await open("platform-keys"), "No platform keys")
  const form = await open("platform-keys/new")
  const [, once = ""] = /name="once" value="([^"]+)"/.exec(form) ?? []
  const issued = await post("platform-keys/new", [
    ["once", once],
    ["name", "marketplace"],
    ["scopes", "read"],
    ["scopes", "send"],
    ["day_sats", "1000"],
    ["expires", "2100-01-31"]
  ])
  const [key = assert.fail(issued)] = /sp_regtest_[1-9A-Za-z]+/.exec(issued) ?? []
  assert.include(issued, "another operator approves it")
  const list = await open("platform-keys")
  assert.include(list, "Awaiting approval")
  assert.notInclude(list, key)
  const [, id = assert.fail(list)] = /platform-keys\/([0-9a-f-]{36})/.exec(list) ?? []
  const page = await open(`platform-keys/${id}`)
  for (const text of ["Approve marketplace", "Read, Send", "1,000 sats", "Expires"])
    assert.include(page, text)
  // The operator who requested it cannot approve it.
  await post(`platform-keys/${id}`, [["do", "approve"]])
  assert.include(await open("platform-keys"), "Awaiting approval")
  await post(`platform-keys/${id}`, [["do", "revoke"]])
  assert.include(await open("platform-keys"), "Revoked")
  assert.strictEqual((await look("platform-keys/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")).status, 404)
})
