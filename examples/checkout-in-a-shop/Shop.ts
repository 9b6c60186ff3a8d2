import { Answer, Checkouts, type CompanyId, Decimal, Policy, Satrail } from "@satrail/core"
import { Authentication, Http, Readiness } from "@satrail/http"
import { Memory } from "@satrail/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, ManagedRuntime } from "effect"

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Coffee</title><script src="/pay/embed.js"></script>
<h1>Coffee, 21,000 sats</h1><button>Buy</button>
<script>
  document.querySelector("button").onclick = async () =>
    satrail.open(await (await fetch("/buy", { method: "POST" })).text(), { onPaid: () => { document.title = "Thank you" } })
</script></html>`

/** The service inside a shop at this host and port: every page of it is at the shop's own address. */
export const open = (host: string) => {
  const services = ManagedRuntime.make(
    Satrail.layerWorkers.pipe(
      Layer.provideMerge(
        Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "shop.example", linkHost: host, invoicePollMillis: 200 })
      ),
      Layer.provideMerge(Layer.mergeAll(Memory.layer, Sandbox.layer({ seed: "shop", network: "regtest" }), FixedRates.layer()))
    )
  )
  const mount = async () =>
    Http.webHandler(
      Http.layer().pipe(
        Layer.provide(Layer.succeedContext(await services.context())),
        Layer.provide(Layer.succeed(Authentication.OperatorToken, undefined)),
        Layer.provide(Layer.succeed(Readiness.Readiness, []))
      )
    )
  const buy = (companyId: CompanyId.CompanyId) =>
    services.runPromise(
      Effect.flatMap(Checkouts.Checkouts, ({ create }) =>
        create({
          companyId,
          asked: { amount: Decimal.make(21_000n), currency: "sats" },
          description: "Coffee",
          orderId: "1042",
          metadata: {},
          expirySeconds: 900,
          tolerancePercent: 0,
          returnUrl: null,
          cancelUrl: null,
          embedOrigin: `http://${host}`,
          color: "#7c2d12",
          locale: "en"
        })
      ).pipe(Effect.flatMap(Answer.made))
    )
  return { services, mount, buy, page }
}
