// Express 5. Mount it before any body parser, because the service reads and limits request bodies itself.
import express from "express"
import { nodeHandler } from "./node.ts"
import { handler } from "./payments.ts"

const answer = nodeHandler(handler)

export const app = express()
app.use("/v1", (request, response) => answer(request, response, request.originalUrl))
app.use(express.json())
app.get("/", (_request, response) => {
  response.send("the shop")
})
