import express from "express"
import { checkout, receive } from "./shop.ts"

export const app = express()
app.post("/buy", express.urlencoded(), async (request, response) => {
  response.redirect(303, await checkout(request.body.order))
})
app.post("/webhooks", express.raw({ type: "*/*" }), async (request, response) => {
  response.sendStatus(await receive(request))
})
