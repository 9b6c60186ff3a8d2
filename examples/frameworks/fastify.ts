import fastify from "fastify"
import { checkout, receive } from "./shop.ts"

export const app = fastify()
app.addContentTypeParser(
  "application/x-www-form-urlencoded",
  { parseAs: "string" },
  async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body))
)
app.post<{ Body: { order: string } }>("/buy", async (request, reply) =>
  reply.redirect(await checkout(request.body.order), 303)
)
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => body)
  scope.post<{ Body: Buffer }>("/webhooks", async ({ headers, body }, reply) =>
    reply.code(await receive({ headers, body })).send()
  )
})
