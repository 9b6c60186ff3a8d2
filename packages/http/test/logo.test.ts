import { afterAll, assert, describe, it } from "@effect/vitest"
import { small } from "@satrail/testing/Pictures"
import { bad, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const png = { content_type: "image/png", data: small.png }
const jpeg = { content_type: "image/jpeg", data: small.jpeg }
const set = (key: string, body: unknown) => service.ask("PUT", "/v1/logo", { key, body })
const urlOf = async (key: string, body: unknown = png): Promise<string> => {
  const answer = await set(key, body)
  assert.strictEqual(answer.status, 200, answer.text)
  return new URL(answer.body.data.url).pathname
}
/** The file, in its bytes. */
const file = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await service.handler(new Request(`http://service${path}`, { headers }))
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const pageOf = async (key: string): Promise<string> => {
  const { body } = await service.ask("POST", "/v1/checkouts", { key, body: { amount: 1000, currency: "sats" } })
  return (await service.ask("GET", new URL(body.data.url).pathname)).text
}

describe("A company's logo", () => {
  it("logo: set, replaced and removed, it is on the pages of the company's checkouts, and on no other's", async () => {
    const [{ key }, other] = [await service.company(), await service.company()]
    assert.deepStrictEqual(seen(await service.ask("GET", "/v1/logo", { key })), bad(404, "not_found"))
    assert.notInclude(await pageOf(key), "<img")
    const first = await set(key, png)
    const { url, updated_at, ...data } = first.body.data
    assert.deepStrictEqual(data, { content_type: "image/png", width: 5, height: 3 })
    assert.strictEqual(new Date(updated_at).toISOString(), updated_at)
    assert.match(url, /^https:\/\/pay\.example\.com\/pay\/logo\/[0-9a-f]{32}\/[0-9a-f]{64}$/)
    assert.deepStrictEqual((await service.ask("GET", "/v1/logo", { key })).body.data, first.body.data)
    const path = new URL(url).pathname
    assert.include(await pageOf(key), `<img class="logo" src="${path.slice("/pay/".length)}" alt="Example Ltd" width="5" height="3"/>`)
    assert.notInclude(await pageOf(other.key), "<img")

    const second = await urlOf(key, jpeg)
    assert.strictEqual((await file(path)).status, 404)
    assert.deepStrictEqual([(await file(second)).status, (await file(second)).bytes.toString("base64")], [200, small.jpeg])
    assert.include(await pageOf(key), second.slice("/pay/".length))

    for (const _ of ["once", "again"])
      assert.deepStrictEqual((await service.ask("DELETE", "/v1/logo", { key })).body.data, { removed: true })
    assert.strictEqual((await file(second)).status, 404)
    assert.notInclude(await pageOf(key), "<img")
    assert.strictEqual(await urlOf(key, jpeg), second)
  })

  it("logo: its file has the type that its first bytes say, and a browser does nothing else with it", async () => {
    const { key } = await service.company()
    const path = await urlOf(key, { content_type: "image/webp", data: small.webpLossless })
    const { status, headers, bytes } = await file(path)
    assert.deepStrictEqual([status, bytes.toString("base64")], [200, small.webpLossless])
    for (const [name, value] of [
      ["content-type", "image/webp"],
      ["x-content-type-options", "nosniff"],
      ["content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"],
      ["cache-control", "public, max-age=31536000, immutable"]
    ] as const)
      assert.strictEqual(headers.get(name), value)
    const etag = headers.get("etag") ?? ""
    assert.strictEqual((await file(path, { "if-none-match": etag })).status, 304)
    assert.strictEqual((await file(path, { "if-none-match": '"another"' })).status, 200)
  })

  it("logo: under a name that it has not, or of another company's, there is none", async () => {
    const [one, other] = [await service.company(), await service.company()]
    const [path, otherPath] = [await urlOf(one.key), await urlOf(other.key, jpeg)]
    const [, publicId = "", hash = ""] = /logo\/(.*)\/(.*)$/.exec(path) ?? []
    const [, otherId = ""] = /logo\/(.*)\/.*$/.exec(otherPath) ?? []
    assert.notStrictEqual(publicId, otherId)
    for (const wrong of [`${otherId}/${hash}`, `${publicId}/${"0".repeat(64)}`, `${publicId}/`, `%00/${hash}`, `${one.id}/${hash}`])
      assert.strictEqual((await file(`/pay/logo/${wrong}`)).status, 404, wrong)
  })

  it("logo: what is wrong is said of its member, with what would be right, and nothing is kept", async () => {
    const { key } = await service.company()
    const wrong = async (body: unknown): Promise<ReadonlyArray<readonly [string, string]>> => {
      const answer = await set(key, body)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      return (answer.body.error?.issues ?? []).map(({ path, message }) => [path, message])
    }
    const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>").toString("base64")
    const what = "A PNG, JPEG or WebP picture, which its first bytes say; no SVG"
    assert.deepStrictEqual(await wrong({ ...png, data: svg }), [["data", what]])
    assert.deepStrictEqual(await wrong({ ...png, content_type: "image/jpeg" }), [
      ["content_type", "image/png, which the picture's first bytes say that it is"]
    ])
    assert.strictEqual((await wrong({ content_type: "image/svg+xml", data: svg }))[0]?.[0], "content_type")
    assert.match((await wrong({ ...png, data: "A".repeat(64_004) }))[0]?.[1] ?? "", /^At most 48000 bytes/)
    assert.strictEqual((await set(key, { ...png, data: "A".repeat(70_000) })).status, 413)
    assert.deepStrictEqual(seen(await service.ask("GET", "/v1/logo", { key })), bad(404, "not_found"))
  })

  it("logo: is set and removed with the scope admin, and read with the scope read", async () => {
    const { id, key } = await service.company()
    await urlOf(key)
    for (const scope of ["receive", "send", "read"] as const) {
      const own = await service.keyFor(id, scope)
      assert.deepStrictEqual(seen(await set(own, jpeg)), bad(403, "scope_required"))
      assert.deepStrictEqual(seen(await service.ask("DELETE", "/v1/logo", { key: own })), bad(403, "scope_required"))
      assert.strictEqual((await service.ask("GET", "/v1/logo", { key: own })).status, scope === "read" ? 200 : 403)
    }
  })

  it("logo: several first ones at once leave one of them", async () => {
    const { key } = await service.company()
    const answers = await Promise.all([set(key, png), set(key, jpeg), set(key, png), set(key, jpeg)])
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200]
    )
    const { url } = (await service.ask("GET", "/v1/logo", { key })).body.data
    assert.strictEqual((await file(new URL(url).pathname)).status, 200)
    assert.strictEqual(new Set(answers.map(({ body }) => new URL(body.data.url).pathname.split("/")[3])).size, 1)
  })
})
