import { Effect, Layer } from "effect"
import { describe, inject } from "vitest"
import * as Binaries from "./Binaries.ts"
import * as Bitcoind from "./Bitcoind.ts"
import * as Btcd from "./Btcd.ts"
import type { Chain } from "./Chain.ts"
import type { Network } from "./Network.ts"
import * as Shared from "./Shared.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The network of this test run, or the reason why it could not start. Undefined if this run has no network. */
    readonly regtest: Shared.Place | { readonly failed: string } | undefined
    /** The node that provides the chain for this project's tests. */
    readonly chain: "btcd" | "bitcoind"
  }
}

const skip = (missing: string): false => {
  if (process.env["REQUIRE_REAL_NODES"] === "1") throw new Error(missing)
  console.error(`skipped: ${missing}`)
  return false
}

/**
 * Returns whether tests can run these programs. If not, prints a line, or throws if `REQUIRE_REAL_NODES=1`.
 */
export const isHere = (names: ReadonlyArray<Binaries.Name>): boolean => {
  const missing = Binaries.missing(names)
  return missing === undefined || skip(missing)
}

/** Prepares a program and returns whether that succeeded. If not, prints a line or throws, as `isHere` does. */
export const isMade = async (name: Binaries.Name): Promise<boolean> => {
  if (!isHere([name])) return false
  const made = await Effect.runPromise(Effect.result(Binaries.ensure(name)))
  return made._tag === "Success" || skip(made.failure.message)
}

/**
 * Defines tests that use these programs. The tests are skipped if the programs can be neither found nor built.
 * bitcoind is not downloaded here, because the setup of the test run has already tried that.
 */
export const suite = (title: string, names: ReadonlyArray<Binaries.Name>, define: () => void): void => {
  const isAbsent = names.includes("bitcoind") && !Binaries.isReady("bitcoind")
  const place = isAbsent || Binaries.missing(names) !== undefined ? describe.skip : describe
  place(title, define)
}

/** Defines tests that run on this project's kind of chain. Another project runs the same tests on the other kind. */
export const onChain = (title: string, define: () => void): void => suite(title, [inject("chain")], define)

/** Starts a chain of this project's kind. The chain stops when the scope closes. */
export const chain = Layer.suspend((): Layer.Layer<Chain, Layer.Error<typeof Btcd.layer>> =>
  inject("chain") === "btcd" ? Btcd.layer : Bitcoind.layer
)

/** The network of this test run, which all *.regtest.test.ts files share. */
export const network: Layer.Layer<Network> = Layer.unwrap(
  Effect.suspend(() => {
    const place = inject("regtest")
    if (place === undefined) return Effect.die(new Error("only tests in the project regtest have a network"))
    if ("failed" in place) return Effect.die(new Error(`the test network did not start: ${place.failed}`))
    return Effect.succeed(Shared.layer(place))
  })
)
