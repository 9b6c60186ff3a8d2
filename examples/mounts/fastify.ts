// Fastify 5. Mounted in a separate scope in which Fastify doesn't parse bodies, because the service reads and
// limits them itself.
import fastify from "fastify"
import { nodeHandler } from "./node.ts"
import { handler } from "./payments.ts"

const answer = nodeHandler(handler)

export const app = fastify()
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/v1/*", async (request, reply) => {
    reply.hijack()
    await answer(request.raw, reply.raw, request.url)
  })
})
app.get("/", () => "the shop")
