// Your own Lightning backend in one file: PaperNode.ts. This program starts a node for the backend
// (PaperDaemon.ts) and runs all contract tests against it, as test/contract.test.ts does.
// Run it: npm run example -- custom-node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type Contract, LightningReceiver as Receiver, LightningSender as Sender } from "@satrail/contracts"
import { Cause, Console, Effect, Exit } from "effect"
import * as Peers from "./Peers.ts"

/** Prints the failed contract tests and returns their number. */
const hold = Effect.fnUntraced(function* <R>(port: string, promises: Contract.Promises<R>) {
  yield* Console.log(port)
  let broken = 0
  for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises)) {
    const exit = yield* Effect.exit(Effect.timeout(check, "20 seconds"))
    yield* Console.log(`  ${Exit.isSuccess(exit) ? "✓" : "✗"} ${promise}`)
    if (Exit.isFailure(exit)) {
      broken++
      yield* Console.log(Cause.pretty(exit.cause))
    }
  }
  return broken
})

const program = Effect.gen(function* () {
  const broken =
    (yield* hold("LightningReceiver", Receiver.promises)) + (yield* hold("LightningSender", Sender.promises))
  if (broken > 0) return yield* Effect.fail(`${broken} contract tests failed`)
  yield* Console.log("The node passed every contract test.")
})

NodeRuntime.runMain(Effect.provide(program, Peers.layer))
