import { once } from "node:events"
import { createServer } from "node:http"
import { satrail } from "satrail"
import { network } from "./grounds.ts"

const operatorToken = "operator-token".repeat(3)

/** A server on a free port, and a client of another program, which asks for the key of each company. */
export const start = async () => {
  const service = await satrail.test({ logLevel: "error", operatorToken })
  const server = createServer(service.handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${Object(server.address()).port}`
  const keys = new Map<string, Promise<string>>()
  const places = new Map<string, string>()
  const pay = network({
    url,
    operatorToken,
    key: async (company) => {
      // A consumer without a company gets the events of the key's company, the shop.
      const id = company ?? [...keys.keys()][0] ?? String((await pay.companies.list()).items[0]?.id)
      const issued = async () =>
        (await pay.companies.issueKey(id, { name: "program", scopes: ["admin"] })).key
      const key = keys.get(id) ?? issued()
      keys.set(id, key)
      return key
    },
    cursors: {
      load: (name) => places.get(name),
      save: (name, place) => void places.set(name, place)
    }
  })
  return {
    pay,
    service,
    close: async () => {
      await service.close()
      server.closeAllConnections()
      server.close()
    }
  }
}
