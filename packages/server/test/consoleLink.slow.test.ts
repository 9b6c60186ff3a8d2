import { eventually } from "@satrail/testing/Waiting"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { rmSync } from "node:fs"
import * as Service from "./Service.ts"

const data = Service.directory()
afterAll(() => rmSync(data, { recursive: true, force: true }))

/** Starts the service like `npm start` and returns its output. */
const start = async (env: Readonly<Record<string, string>> = {}) => {
  const running = Service.run("cli", ["start"], { SATRAIL_DATA: data, PORT: "0", ...env })
  const said = await eventually(
    "a start",
    async () => running.stdout(),
    (text) => text.includes("Ctrl-C stops it")
  )
  const [, url = ""] = /is running at (\S+),/.exec(said) ?? []
  const end = async () => {
    running.kill("SIGTERM")
    await running.ended
  }
  return { said, url, link: /\/console#link=(\S+)/.exec(said)?.[1], end }
}
const signIn = (url: string, link: string) =>
  Service.send(`${url}/console/session`, "POST", {
    headers: { "sec-fetch-site": "same-origin", "x-satrail-console": "1" },
    body: { link }
  })

describe("The link to the console", () => {
  it("banner: the documentation link leads to a list of guides, all of which exist", async () => {
    const { said, end } = await start()
    const [, docs = ""] = /documentation\s+(\S+)/.exec(said) ?? []
    const list = await fetch(docs)
    assert.strictEqual(list.status, 200)
    const guides = Array.from(
      (await list.text()).matchAll(/<a href="([^"]*guides\/[^"]+)"/g),
      ([, link = ""]) => new URL(link, list.url)
    )
    assert.isAbove(guides.length, 15)
    for (const guide of guides)
      assert.deepStrictEqual([guide.href, (await fetch(guide)).status], [guide.href, 200])
    await end()
  })

  it("sign-in link: a service that starts with simulated backends prints a link that works once and signs in as the demo company", async () => {
    const { url, link = "", said, end } = await start()
    // Browsers refuse passkeys at an address of numbers.
    assert.match(said, /console +http:\/\/localhost:\d+\/console#link=/)
    assert.strictEqual((await fetch(/console +([^#]+)#link/.exec(said)?.[1] ?? "")).status, 200)
    // The API reference fills in the sandbox's key, unless other machines can connect.
    const reference = await fetch(`${url}/docs/api`)
    assert.match(await reference.text(), /data-token="sr_regtest_/)
    assert.strictEqual(reference.headers.get("cache-control"), "no-store")
    const first = await signIn(url, link)
    assert.deepStrictEqual([first.status, first.data.name], [200, "demo"])
    assert.match(first.headers.get("set-cookie") ?? "", /^__Host-satrail=k\./)
    const second = await signIn(url, link)
    assert.deepStrictEqual([second.status, second.headers.get("set-cookie")], [401, null])
    // The link appears once in the output and never in the log.
    assert.strictEqual(said.split(link).length, 2)
    await end()
  })

  it("sign-in link: no link is printed if other machines can connect, and the console's pages are not found if the console is disabled", async () => {
    const { said, url, end } = await start({ HOST: "0.0.0.0" })
    assert.match(url, /^http:\/\/localhost:\d+$/)
    assert.notInclude(await (await fetch(`${url}/docs/api`)).text(), "data-token")
    assert.include(said, `${url}/console`)
    assert.notInclude(said, "#link=")
    await end()
    const closed = await start({ SATRAIL_CONSOLE: "no" })
    assert.notInclude(closed.said, "/console")
    for (const path of ["/console", "/console/session"])
      assert.strictEqual((await fetch(closed.url + path)).status, 404)
    await closed.end()
  })
})
