// A bundled host: creates an invoice and waits until it settles.
import { Answer, Companies, Decimal, Invoices, Policy, Satrail } from "@satrail/service"
import { Memory } from "@satrail/service/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, ManagedRuntime } from "effect"

const ports = Layer.mergeAll(
  Memory.layer,
  Sandbox.layer({ seed: "bundled", network: "regtest" }),
  FixedRates.layer()
)
const settings = { ...Policy.defaults, network: "regtest", domain: "pay.example.com" }
const runtime = ManagedRuntime.make(
  Satrail.layerWorkers.pipe(Layer.provideMerge(Satrail.layer(settings)), Layer.provideMerge(ports))
)

const story = Effect.gen(function* () {
  const company = yield* Effect.flatMap(
    (yield* Companies.Companies).open({ name: "Shop", plan: "free" }),
    Answer.made
  )
  const invoices = yield* Invoices.Invoices
  const ask = {
    companyId: company.id,
    amount: Decimal.make(21n),
    currency: "sats",
    description: "tea",
    expirySeconds: 600,
    metadata: {}
  }
  const { id, paymentRequest } = yield* Effect.flatMap(invoices.create(ask), Answer.made)
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  while ((yield* invoices.get(company.id, id)).status !== "settled") yield* Effect.sleep(10)
  console.log("settled")
})
runtime.runPromise(story).then(() => runtime.dispose())
