// The line with which the program begins on each ground. Checked by the compiler: only this line differs.
import { type Pay, satrail } from "satrail"
import { client, type Options } from "../../src/index.ts"
import type { OperatorClient } from "../../src/operator.ts"
import type { day } from "./program.ts"

export const inMemory = () => satrail.test<{ order?: string }>({ logLevel: "error" })
export const embedded = (directory: string) => satrail<{ order?: string }>({ directory, logLevel: "error" })
export const postgres = (directory: string, database: string) =>
  satrail<{ order?: string }>({ directory, database, logLevel: "error" })
export const network = (options: Options) => client<{ order?: string }>(options)

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Holds<T extends true> = T
type Opened = Awaited<ReturnType<typeof inMemory | typeof embedded | typeof postgres | typeof network>>
export type EachGroundRunsTheProgram = Holds<Opened extends Parameters<typeof day>[0] ? true : false>

type M = { order?: string }
type Methods = keyof OperatorClient<M>
/** A method has one type in the process and over the network. */
export type MethodsAreTheSame = Holds<
  Equal<{ [K in Methods]: Pay<M>[K] }, { [K in Methods]: OperatorClient<M>[K] }>
>
