import { Hono } from "hono"
import { checkout, receive } from "./shop.ts"

export const app = new Hono()
app.post("/buy", async (context) => {
  const { order } = await context.req.parseBody()
  return context.redirect(await checkout(String(order)), 303)
})
app.post("/webhooks", async (context) => new Response(null, { status: await receive(context.req.raw) }))
