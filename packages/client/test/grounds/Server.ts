import { once } from "node:events"
import { createServer } from "node:http"
import { satrail } from "satrail"
import { network } from "./grounds.ts"

const operatorToken = "operator-token".repeat(3)

/** A server on a free port, and a client of another program, with a platform key. */
export const start = async () => {
  const service = await satrail.test({ logLevel: "error", operatorToken })
  const server = createServer(service.handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${Object(server.address()).port}`
  const places = new Map<string, string>()
  const { key } = await service.platformKeys.issue({ name: "program", scopes: ["admin"] })
  const pay = network({
    url,
    operatorToken,
    key,
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
