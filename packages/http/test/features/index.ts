import { Context } from "effect"
import { place } from "./wallet-connect.ts"

const all: ReadonlyArray<Context.Context<never>> = [place]

/** References that features need in the service of the tests. */
export const references = Context.mergeAll(...all)
