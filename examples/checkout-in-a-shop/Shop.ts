// A shop whose server includes the payments service and its pages. One function handles all requests. Its page
// is shop.html.
import { Answer, Checkouts, Companies, Decimal, Policy, Satrail } from "@satrail/service"
import { Checkout } from "@satrail/service/records"
import { Authentication, Http, Readiness } from "@satrail/service/http"
import { Memory } from "@satrail/service/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, ManagedRuntime } from "effect"
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("shop.html", import.meta.url))
const coffee = {
  asked: { amount: Decimal.make(21_000n), currency: "sats" },
  description: "Coffee",
  orderId: "1042",
  metadata: {}
} as const
const terms = {
  expirySeconds: 900,
  tolerancePercent: 0,
  returnUrl: null,
  cancelUrl: null,
  color: "#7c2d12",
  locale: "en",
  options: [],
  contact: null
} as const

export const open = async (host: string) => {
  const settings = { ...Policy.defaults, network: "regtest", domain: "shop.example", linkHost: host } as const
  const ports = Layer.mergeAll(
    Memory.layer,
    Sandbox.layer({ seed: "shop", network: "regtest" }),
    FixedRates.layer()
  )
  const services = ManagedRuntime.make(
    Satrail.layerWorkers.pipe(Layer.provideMerge(Satrail.layer(settings)), Layer.provideMerge(ports))
  )
  const own = Layer.merge(
    Layer.succeed(Authentication.OperatorToken, undefined),
    Layer.succeed(Readiness.Readiness, [])
  )
  const pages = Http.webHandler(
    Http.layer().pipe(Layer.provide(own), Layer.provide(Layer.succeedContext(await services.context())))
  )
  const companies = await services.runPromise(Companies.Companies)
  const { id: companyId } = await services.runPromise(
    Effect.flatMap(companies.open({ name: "Café", plan: "free" }), Answer.made)
  )
  const { create } = await services.runPromise(Checkouts.Checkouts)
  const buy = Effect.flatMap(
    create({ ...coffee, ...terms, companyId, embedOrigin: `http://${host}` }),
    Answer.made
  )
  const handler = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === "/")
      return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } })
    return pathname === "/buy"
      ? new Response(Checkout.urlOf(await services.runPromise(buy)))
      : pages.handler(request)
  }
  return { handler, services, close: () => pages.dispose().then(() => services.dispose()) }
}
