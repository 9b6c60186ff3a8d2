import { afterAll, assert, it } from "@effect/vitest"
import { skippingTime, start } from "./Service.ts"

const service = await start({ http: { console: true }, around: skippingTime })
afterAll(service.dispose)
const { key } = await service.company()
const headers = { "sec-fetch-site": "same-origin", "x-satrail-console": "1" }
const signedIn = await service.ask("POST", "/console/session", { body: { credential: key }, headers })
const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
const overview = async () => (await service.send(new Request("http://service/console", { headers: { cookie } }))).text

it("console: before its first payment, a company sees what is left to set up, and cannot send", async () => {
  const first = await overview()
  for (const text of ["Set up your account", "0 of 2 done", ">Invite a person<", ">Add a webhook<", "New checkout"])
    assert.include(first, text)
  assert.notMatch(first, /class="btn"[^>]*>Send</)
  const made = await service.ask("POST", "/v1/webhook-endpoints", { key, body: { url: "https://shop.example/webhooks" } })
  assert.strictEqual(made.status, 201, made.text)
  const second = await overview()
  assert.include(second, "1 of 2 done")
  assert.notInclude(second, ">Add a webhook</a>")
})
