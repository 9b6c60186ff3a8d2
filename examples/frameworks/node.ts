import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { checkout, receive } from "./shop.ts"

export const server = createServer(async (request, response) => {
  const body = await buffer(request)
  if (request.method !== "POST") return response.writeHead(405).end()
  if (request.url === "/webhooks")
    return response.writeHead(await receive({ headers: request.headers, body })).end()
  const location = await checkout(new URLSearchParams(body.toString()).get("order") ?? "")
  return response.writeHead(303, { location }).end()
})
