import { afterAll, assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { operatorToken, start, url } from "./Service.ts"
import * as Embedded from "./swap/embedded.ts"
import * as Remote from "./swap/remote.ts"

const service = await start()
afterAll(service.dispose)

const linesOf = (file: string) =>
  readFileSync(path.join(import.meta.dirname, "swap", file), "utf8").split("\n")

describe("a program that uses the package satrail", () => {
  it("client: a program switches from the embedded service to the client by changing the import and one line", () => {
    const [embedded, remote] = [linesOf("embedded.ts"), linesOf("remote.ts")]
    assert.lengthOf(remote, embedded.length)
    const changed = embedded.flatMap((line, at) => (line === remote[at] ? [] : [line]))
    assert.lengthOf(changed, 2)
    assert.match(changed[0] ?? "", /^import /)
    assert.match(changed[1] ?? "", /^export const open = /)
  })

  it("client: the client returns the same results as the embedded service", async () => {
    const pay = await Embedded.open()
    const embedded = await Embedded.sell(pay, ({ paymentRequest }) => pay.outside.pay(paymentRequest))
    const keys = new Map<string | undefined, Promise<string>>()
    /** The key of the shop, the only company. */
    const key = async (company: string | undefined): Promise<string> => {
      const id = company ?? (await shop.companies.list()).items[0]?.id ?? assert.fail("there is no shop")
      const known =
        keys.get(id) ??
        shop.companies.issueKey(id, { name: "shop", scopes: ["admin"] }).then((issued) => issued.key)
      keys.set(id, known)
      return known
    }
    const places = new Map<string, string>()
    const cursors = {
      load: (name: string) => places.get(name),
      save: (name: string, place: string) => void places.set(name, place)
    }
    const fetch: typeof globalThis.fetch = (input, init) => service.handler(new Request(input, init))
    const shop = await Remote.open({ url, operatorToken, key, cursors, fetch })
    const remote = await Remote.sell(shop, service.payFor)
    assert.deepStrictEqual(remote, embedded)
    assert.deepStrictEqual(remote.lists, [1, 1, undefined, [true], [undefined, 21_000n]])
    assert.deepStrictEqual(remote.found, ["Shop", remote.available])
    assert.deepStrictEqual(remote.rows, [["deposit", remote.amount, "Two coffees", { order: "1042" }, null]])
    assert.deepStrictEqual([remote.order, remote.available.sats], ["1042", 21_000n])
    assert.deepStrictEqual(remote.refused, [
      "insufficient_balance",
      false,
      { msat: 21_000_000n, sats: 21_000n }
    ])
  })
})
