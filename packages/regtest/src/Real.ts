import { Effect, Layer } from "effect"
import { describe, inject } from "vitest"
import * as Binaries from "./Binaries.ts"
import type { Network } from "./Network.ts"
import * as Shared from "./Shared.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The network of this run, or why it could not be started; undefined where it cannot be had. */
    readonly regtest: Shared.Place | { readonly failed: string } | undefined
  }
}

/**
 * Whether tests can run these programs; where they cannot, prints a line. With `REQUIRE_REAL_NODES=1` that is an error.
 */
export const isHere = (names: ReadonlyArray<Binaries.Name>): boolean => {
  const missing = Binaries.missing(names)
  if (missing === undefined) return true
  if (process.env["REQUIRE_REAL_NODES"] === "1") throw new Error(missing)
  console.error(`skipped: ${missing}`)
  return false
}

/** Tests with these programs, skipped where they can be neither found nor built. */
export const suite = (title: string, names: ReadonlyArray<Binaries.Name>, define: () => void): void => {
  const place = Binaries.missing(names) === undefined ? describe : describe.skip
  place(title, define)
}

/** The network of this run, which all *.regtest.test.ts share. */
export const network: Layer.Layer<Network> = Layer.unwrap(
  Effect.suspend(() => {
    const place = inject("regtest")
    if (place === undefined) return Effect.die(new Error("only tests of the project regtest have a network"))
    if ("failed" in place) return Effect.die(new Error(`the network of the tests did not start: ${place.failed}`))
    return Effect.succeed(Shared.layer(place))
  })
)
