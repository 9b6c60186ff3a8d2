import { Context } from "effect"
import { place } from "./wallet-connect.ts"

const all: ReadonlyArray<Context.Context<never>> = [place]

/** References that features need in the tests' service. */
export const references = Context.mergeAll(...all)
