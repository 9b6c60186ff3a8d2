// Hono 4 uses web requests, so no adapter is needed.
import { Hono } from "hono"
import { handler } from "./payments.ts"

export const app = new Hono()
app.all("/v1/*", (context) => handler(context.req.raw))
app.get("/", (context) => context.text("the shop"))
