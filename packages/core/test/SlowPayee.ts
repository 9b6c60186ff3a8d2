import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Scope } from "effect"
import type { Company } from "../src/accounts/Company.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { asked, companyWith, type Ports, type Process, replace, said, scenario } from "./World.ts"

type Story<A> = Effect.Effect<A, unknown, Ports | Process | Scope.Scope>

/** Confirms a withdrawal with the key that `open` returns. The payee's server responds only after `meanwhile`. */
export const stalled = <
  A extends { readonly apiKey: Parameters<Withdrawals["Service"]["confirm"]>[0]["apiKey"] }
>(
  name: string,
  open: (payer: Company) => Story<A>,
  meanwhile: (opened: A) => Story<unknown>,
  expected: string
): void => {
  const [begun, answered] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  const stalling = replace(Resolver, (resolver) => ({
    offer: (url) =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Deferred.await(answered)),
        Effect.andThen(resolver.offer(url))
      )
  }))
  scenario(name, { change: stalling }, function* () {
    const payer = yield* companyWith(5000)
    const opened = yield* open(payer)
    const { apiKey } = opened
    const withdrawal = {
      company: payer,
      apiKey,
      asked: yield* asked(1000),
      destination: "settle@wallet.example",
      metadata: {}
    }
    const confirmed = Effect.tapError((yield* Withdrawals).confirm(withdrawal), (error) =>
      Effect.sync(() => {
        if (error._tag === "LimitExceeded") assert.strictEqual(error.remaining, 1000n)
      })
    )
    const confirming = yield* Effect.forkChild(said(confirmed))
    yield* Deferred.await(begun)
    yield* meanwhile(opened)
    yield* Deferred.succeed(answered, undefined)
    assert.strictEqual(yield* Fiber.join(confirming), expected)
  })
}
