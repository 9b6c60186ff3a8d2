// A server that answers at once, and stands still for 300 ms now and then: what a generator must not fail to notice.
import { createServer } from "node:http"

const stallMillis = 300
const everyMillis = 1500

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-length": 2 })
  response.end("{}")
})
setInterval(() => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMillis)
}, everyMillis)
server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
