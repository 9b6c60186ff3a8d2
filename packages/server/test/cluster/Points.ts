import { Journal } from "@satrail/core/ledger/Journal"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import type { Ports } from "@satrail/core/service/Satrail"
import { Context, Effect } from "effect"
import { appendFileSync, existsSync, readFileSync, unlinkSync } from "node:fs"
import path from "node:path"

type Call = Effect.Effect<unknown, unknown>

/** The files through which a test and its replicas talk about points. */
export const files = (directory: string) => ({
  /** Names the point at which the first process to come there dies. It takes the file with it, so that no other does. */
  death: path.join(directory, "death"),
  /** Names the point at which whoever comes there waits until the file is gone. */
  gate: path.join(directory, "gate"),
  /** Who waits there: a line each, the process's id. */
  waiting: path.join(directory, "waiting"),
  /** Where it is there, every call that is made is written down: a line each, its name. */
  trace: path.join(directory, "trace")
})

/** What the file says; nothing where it is gone, or goes just now. */
const namedIn = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Whether this process is the one that takes the file away: of many that try, one. */
const takes = (file: string): boolean => {
  try {
    unlinkSync(file)
    return true
  } catch {
    return false
  }
}

/** What withdrawals go through; every other task keeps a role. */
const kinds = new Set<unknown>(["withdrawal", "recipient", "payment", "payout"])

/** Commits are told apart by what they commit, tasks by their kind, however they are claimed. */
const nameOf = (member: string, [first]: ReadonlyArray<unknown>): string => {
  if (typeof first !== "object" || first === null) return member
  if (member === "commit" && "_tag" in first) return String(first._tag)
  if (!("kind" in first)) return member
  return `${member === "claimInTurn" ? "claim" : member} ${kinds.has(first.kind) ? String(first.kind) : "duty"}`
}

/** To look and to find nothing happens all the time, and is no step of anything. */
const isNothing = (answer: unknown): boolean =>
  (Array.isArray(answer) && answer.length === 0) ||
  (typeof answer === "object" && answer !== null && "outputs" in answer && Array.isArray(answer.outputs) && answer.outputs.length === 0)

/** Every call of a port is a point before it is made and another one when it is answered. At a point a test may have the process held or killed. */
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
    // Member by member the same type again, which no type can say of all services at once.
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
