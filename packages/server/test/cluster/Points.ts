import { Journal } from "@satrail/core/ledger/Journal"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import type { Ports } from "@satrail/service/core/Satrail"
import { Context, Effect } from "effect"
import { appendFileSync, existsSync, readFileSync, unlinkSync } from "node:fs"
import path from "node:path"

type Call = Effect.Effect<unknown, unknown>

/** The files through which a test controls the points of its replicas. */
export const files = (directory: string) => ({
  /**
   * Names a point. The first process that reaches the point deletes the file, so that no other process dies
   * there, and then dies.
   */
  death: path.join(directory, "death"),
  /** Names a point. Processes that reach it wait until the file is deleted. */
  gate: path.join(directory, "gate"),
  /** The waiting processes, one process id per line. */
  waiting: path.join(directory, "waiting"),
  /** If this file exists, every call appends its name as a line. */
  trace: path.join(directory, "trace")
})

/** The file's content, or nothing if the file is missing or disappears during the read. */
const namedIn = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/**
 * Tries to delete the file and returns whether this process deleted it. If several processes try, only one
 * succeeds.
 */
const takes = (file: string): boolean => {
  try {
    unlinkSync(file)
    return true
  } catch {
    return false
  }
}

/** The task kinds of withdrawals. Tasks of other kinds are named `duty`. */
const kinds = new Set<unknown>(["withdrawal", "recipient", "payment", "payout"])

/** Names a commit after its content, and a task operation after the task's kind, regardless of how it is claimed. */
const nameOf = (member: string, [first]: ReadonlyArray<unknown>): string => {
  if (typeof first !== "object" || first === null) return member
  if (member === "commit" && "_tag" in first) return String(first._tag)
  if (!("kind" in first)) return member
  return `${member === "claimInTurn" ? "claim" : member} ${kinds.has(first.kind) ? String(first.kind) : "duty"}`
}

/** Returns whether a poll found nothing. Such polls happen constantly and are not steps of a scenario. */
const isNothing = (answer: unknown): boolean =>
  (Array.isArray(answer) && answer.length === 0) ||
  (typeof answer === "object" &&
    answer !== null &&
    "outputs" in answer &&
    Array.isArray(answer.outputs) &&
    answer.outputs.length === 0)

/**
 * Turns each call to a port into two points: one before the call, one when it returns. A test can pause or kill
 * the process at a point.
 */
export const pass = (directory: string) => {
  const { death, gate, waiting, trace } = files(directory)

  const point = (name: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (namedIn(death) === name && takes(death)) process.kill(process.pid, "SIGKILL")
      if (namedIn(gate) !== name) return Effect.void
      appendFileSync(waiting, `${process.pid}\n`)
      return Effect.repeat(Effect.sleep(2), { while: () => existsSync(gate) })
    })

  const around = (name: string, call: Call): Call =>
    Effect.suspend(() => {
      if (existsSync(trace)) appendFileSync(trace, `${name}\n`)
      return point(`before ${name}`).pipe(
        Effect.andThen(call),
        Effect.tap((answer) => (isNothing(answer) ? Effect.void : point(`after ${name}`)))
      )
    })

  const wrapped = <S extends object>(service: S): S =>
    // Each member keeps its type, but TypeScript cannot express that for every service.
    Object.fromEntries(
      Object.entries(service).map(([name, member]: [string, unknown]) => {
        if (Effect.isEffect(member)) return [name, around(name, member as Call)]
        if (typeof member !== "function") return [name, member]
        return [
          name,
          (...args: ReadonlyArray<unknown>) => {
            const result: unknown = member(...args)
            return Effect.isEffect(result) ? around(nameOf(name, args), result as Call) : result
          }
        ]
      })
    ) as S

  const replace =
    <I, S extends object>(key: Context.Key<I, S>) =>
    <R>(ports: Context.Context<R | I>): Context.Context<R | I> =>
      Context.add(ports, key, wrapped(Context.get(ports, key)))

  return (ports: Context.Context<Ports>): Context.Context<Ports> =>
    ports.pipe(
      replace(Journal),
      replace(Tasks),
      replace(LightningReceiver),
      replace(LightningSender),
      replace(ChainSource),
      replace(ChainWallet),
      replace(Signer),
      replace(Resolver)
    )
}
