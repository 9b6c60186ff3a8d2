import { afterAll, assert, it } from "@effect/vitest"
import { fromConsole, operatorToken, start } from "../../../http/test/Service.ts"

// The types of the console's pages include the DOM's, which contradict Node's in other tests.
const siteFile = new URL("../../src/console/Site.ts", import.meta.url).href
const Site: { readonly away: (around: object, message: string, form: URLSearchParams) => string } =
  await import(siteFile)

// A form that is sent again after an outage, when its first request may have taken effect.

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()

it("console: an endpoint form of a company or an operator that is sent twice adds one endpoint, and shows the same secret again", async () => {
  for (const [credential, root, api] of [
    [key, "/console", "/v1"],
    [operatorToken, "/operator/console", "/operator"]
  ] as const) {
    const headers = { cookie: await service.signIn(credential), ...fromConsole, origin: "http://service" }
    const at = `http://service${root}/webhooks/new`
    const form = (await service.send(new Request(at, { headers }))).text
    const [, once] = /name="once" value="([^"]+)"/.exec(form) ?? []
    assert.isDefined(once, root)
    const send = async () => {
      const body = new URLSearchParams({ url: "https://shop.example/hook", credential, once: once ?? "" })
      const { text } = await service.send(new Request(at, { method: "POST", headers, body }))
      return /whsec_[\w+/=]+/.exec(text)?.[0]
    }
    const secret = await send()
    assert.isDefined(secret, root)
    assert.strictEqual(await send(), secret)
    assert.lengthOf(
      (await service.ask("GET", `${api}/webhook-endpoints`, { key: credential })).body.data,
      1,
      root
    )
  }
})

it("console: the page of an outage promises that a form takes effect only once if the form has an idempotency key, and that a search changed nothing", () => {
  const files = { styles: [], script: "", icon: "" }
  const preferences = { theme: "system", currency: "eur", zone: "UTC" }
  const page = (form: Readonly<Record<string, string>>) =>
    Site.away({ files, preferences }, "No answer.", new URLSearchParams(form))
  assert.include(page({ once: "1", amount: "21" }), "the request takes effect only once")
  assert.include(page({ q: "1042" }), "What you typed is kept. Nothing was changed.")
  const other = page({ do: "rotate", overlap: "24" })
  assert.notInclude(other, "only once")
  assert.include(other, "The request may have taken effect: check this before you try again.")
})

it("console: a form that is sent again with other values is rejected with the advice to check what the first one did", async () => {
  const headers = { cookie: await service.signIn(key), ...fromConsole, origin: "http://service" }
  const send = async (amount: string) => {
    const body = new URLSearchParams({
      amount,
      currency: "sats",
      once: "6a1f8f6e-2d0c-4a53-8f0b-0f6c3d0d7a11"
    })
    return service.send(new Request("http://service/console/invoices/new", { method: "POST", headers, body }))
  }
  assert.strictEqual((await send("100")).status, 303)
  const { text } = await send("101")
  assert.include(
    text,
    "This form was already sent with other values, and that request may have taken effect."
  )
  assert.notInclude(text, "Idempotency-Key")
})
