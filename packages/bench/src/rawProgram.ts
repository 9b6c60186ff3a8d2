// The limit: node:http alone, with JSON in and JSON out and nothing between. What it answers is as long as what the service does.
import { createServer } from "node:http"

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const isPost = request.method === "POST"
    const given = isPost ? { asked: JSON.parse(Buffer.concat(chunks).toString()) } : { balance: 21_000_000 }
    const text = JSON.stringify({ status: isPost ? 201 : 200, message: "Balance", data: given })
    response.writeHead(isPost ? 201 : 200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
