import { assert } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import * as Ledger from "@satrail/contracts/Ledger"
import { Companies } from "@satrail/core/accounts/Companies"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Answer from "@satrail/core/ledger/Answer"
import type { Settings } from "@satrail/core/service/Policy"
import * as Policy from "@satrail/core/service/Policy"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Memory from "@satrail/service/memory/Memory"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import type { Lnd as Node } from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Proxy from "@satrail/regtest/Proxy"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Exit, Layer, Option, Redacted, References, Scope } from "effect"

// Runs the service in this process, with an in-memory store and a real node behind a proxy.

const settings: Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: "satrail.localhost",
  trackMillis: { minimum: 50, maximum: 250 },
  invoicePollMillis: 500
}

const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/** A store that survives restarts, with alice as our node. */
const outlasting = (alice: Node, proxy: Proxy.Proxy, deadlineMillis: number) =>
  Effect.gen(function* () {
    const identity = { nodeId: alice.nodeId, network: "regtest" } as const
    const options = {
      url: proxy.url,
      certificateFile: alice.certificateFile,
      identity,
      deadlineMillis,
      graceMillis: 1000
    }
    const [receiver, sender] = [
      yield* alice.bake(uris([...Lnd.receiverCalls, ...Lnd.holdingCalls])),
      yield* alice.bake(uris(Lnd.senderCalls))
    ]
    return Layer.mergeAll(
      Memory.layer,
      FixedRates.layer(),
      Sandbox.layer({ seed: "lnd", network: "regtest" }),
      Lnd.layerReceiver({ ...options, macaroon: receiver, invoiceSecret: Redacted.make("of the stories") }),
      Lnd.layerSender({ ...options, macaroon: sender }),
      LndBooks.layer({ ...options, macaroon: yield* alice.bake(uris(LndBooks.calls)) })
    )
  })

type Services =
  | Layer.Success<ReturnType<typeof Satrail.layer>>
  | Layer.Success<Effect.Success<ReturnType<typeof outlasting>>>

/** Reconciles our books with the node, as a separate process would. */
const reconcile = Effect.scoped(
  Effect.flatMap(Layer.build(Layer.fresh(Reconciler.layer)), (built) =>
    Context.get(built, Reconciler.Reconciler).run()
  )
)

/** The environment of a scenario. */
export interface World {
  readonly proxy: Proxy.Proxy
  /** Runs an effect in the service that is currently up. */
  readonly run: <A, E>(use: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  /** Stops our process, which stays down until `start` runs. */
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
}

/**
 * Runs a scenario against a fresh service. At the end the books must be sound, the node's balance must have
 * changed by exactly the amount posted in the books, and a reconciliation must find no discrepancy.
 * `deadlineMillis` limits the wait for each node response, so a scenario in which the node doesn't respond
 * takes at least the sum of these waits.
 */
export const story = <E, R>(
  tell: (world: World) => Effect.Effect<void, E, R>,
  deadlineMillis = 20_000,
  policy: Settings = settings
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { alice } = yield* Network
      const proxy = yield* Proxy.make(alice)
      const scope = yield* Effect.scope
      const ports = yield* Layer.buildWithScope(
        Layer.fresh(yield* outlasting(alice, proxy, deadlineMillis)),
        scope
      )
      let process:
        | { readonly services: Context.Context<Services>; readonly scope: Scope.Closeable }
        | undefined
      const stop = Effect.suspend(() =>
        process === undefined ? Effect.void : Scope.close(process.scope, Exit.void)
      )
      const start = Effect.gen(function* () {
        const own = yield* Scope.fork(scope)
        const service = Layer.provideMerge(Satrail.layerWorkers, Layer.fresh(Satrail.layer(policy)))
        const services = yield* Effect.provideContext(
          Layer.buildWithScope(Layer.provideMerge(Layer.fresh(service), Layer.succeedContext(ports)), own),
          ports
        )
        process = { services, scope: own }
      })
      const run: World["run"] = (use) =>
        Effect.suspend(() =>
          Effect.provideContext(use, process?.services ?? assert.fail("the service is not started"))
        )
      yield* start
      yield* run(reconcile)
      const before = yield* Peer.balance(alice)
      yield* tell({ proxy, run, stop, start })
      yield* run(Ledger.auditAll)
      const { node } = yield* run(Effect.flatMap(Records, ({ trialBalance }) => trialBalance))
      // A channel settles a payment's remaining updates a moment after the payment.
      const after = yield* eventually(Peer.balance(alice), (balance) => balance - before === -node)
      assert.strictEqual(after - before, -node)
      yield* eventually(run(reconcile), ({ found }) => found.length === 0)
    })
    // Silence the logs, because every worker logs the failures that the scenario causes in the proxy.
  ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))

export const company = Effect.flatMap(
  Effect.flatMap(Companies, ({ open }) => open({ name: "Acme", plan: "paid" })),
  Answer.made
)
export type Company = Effect.Success<typeof company>

const sats = (amount: number) =>
  Effect.map(Effect.fromResult(Decimal.parse(String(amount))), (amount) => ({
    amount,
    currency: "sats" as const
  }))

export const invoice = Effect.fnUntraced(function* (company: Company, amount: number, expirySeconds = 3600) {
  const asked = yield* sats(amount)
  const created = (yield* Invoices).create({
    companyId: company.id,
    ...asked,
    description: "tea",
    expirySeconds,
    metadata: {}
  })
  return yield* Effect.flatMap(created, Answer.made)
})

export const confirm = Effect.fnUntraced(function* (company: Company, destination: string) {
  return yield* Effect.flatMap(
    (yield* Withdrawals).confirm({ company, asked: undefined, destination, metadata: {} }),
    Answer.made
  )
})

export const now = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal) {
  return Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id))
})

/** Waits until a withdrawal is final and returns it. */
export const end = (withdrawal: Withdrawal) =>
  eventually(now(withdrawal), ({ status }) => status !== "pending")

export const balance = Effect.fnUntraced(function* ({ id }: Company) {
  return yield* (yield* Records).balance(id)
})

/** A company with this balance, paid in by carol. */
export const companyWith = Effect.fnUntraced(function* ({ run }: World, amount: number) {
  const { carol } = yield* Network
  const shop = yield* run(company)
  const { paymentRequest } = yield* run(invoice(shop, amount))
  yield* Peer.pay(carol, paymentRequest)
  yield* eventually(run(balance(shop)), ({ posted }) => posted === BigInt(amount) * 1000n)
  return shop
})
