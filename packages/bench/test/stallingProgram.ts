// A server that stalls for 300 ms every 1.5 s.
import { createServer } from "node:http"

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-length": 2 })
  response.end("{}")
})
setInterval(() => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
}, 1500)
server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
