// A server that shows the upper limit for reads. It uses only node:http and JSON, and its response is as long
// as the service's response.
import { createServer } from "node:http"

const server = createServer((_request, response) => {
  const text = JSON.stringify({ status: 200, message: "Balance", data: { balance: 21_000_000 } })
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
})
server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
