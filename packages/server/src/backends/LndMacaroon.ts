import * as Lnd from "@satrail/nodes/Lnd"
import * as Macaroon from "@satrail/nodes/Macaroon"
import { Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { isPath, reasonOf } from "../base/Files.ts"

/** A macaroon that allows what it is for. */
export interface Usable {
  readonly hex: Redacted.Redacted
  /** What it allows beyond that. */
  readonly excessive: ReadonlyArray<string>
}

/** How lnd makes one for these calls and nothing else. */
export const bake = (needed: ReadonlyArray<Macaroon.Call>): string =>
  `lncli bakemacaroon ${needed.map(({ uri }) => `uri:${uri}`).join(" ")}`

const hexOf = (name: string, text: string): Result.Result<string, string> => {
  if (/^([0-9a-f]{2})+$/i.test(text) && text.length >= 64) return Result.succeed(text)
  return Result.try({
    try: () => readFileSync(text, "hex"),
    catch: (cause) =>
      isPath(text)
        ? `${name} cannot be read: ${text}: ${reasonOf(cause)}. Give the path of a macaroon that this user may read, or the macaroon in hex.`
        : `${name} is neither a macaroon in hex nor the path of a file (not shown, it may be a secret). Write a path with a / in front, or the hex that \`xxd -p -c 1000 FILE\` prints.`
  })
}

const holding = [...Lnd.receiverCalls, ...Lnd.holdingCalls]

/** What the receiver's macaroon is for. Holding payments is part of it where the macaroon allows that: one from before there were hold invoices does not. */
export const receiverCalls = (name: string, given: Redacted.Redacted): ReadonlyArray<Macaroon.Call> =>
  Result.isSuccess(read(name, given, holding)) ? holding : Lnd.receiverCalls

/** Whether they are those of a node that holds payments. */
export const holds = (calls: ReadonlyArray<Macaroon.Call>): boolean => calls === holding

/** The macaroon of the variable `name`: in hex or in a file, with all that it must allow. Fails with a sentence that says what to do. */
export const read = (name: string, given: Redacted.Redacted, needed: ReadonlyArray<Macaroon.Call>): Result.Result<Usable, string> =>
  Result.gen(function* () {
    const hex = yield* hexOf(name, Redacted.value(given))
    const granted = yield* Result.mapError(
      Macaroon.permissions(hex),
      (why) => `${name} is not usable: ${why}. Give a macaroon made by \`lncli bakemacaroon\`.`
    )
    const missing = Macaroon.missing(granted, needed)
    if (missing.length > 0) {
      return yield* Result.fail(
        `${name} does not allow what is needed. Bake one with: ${bake(needed)}\n  missing: ${missing.map(({ uri }) => uri).join(", ")}`
      )
    }
    return { hex: Redacted.make(hex, { label: name }), excessive: Macaroon.excessive(granted, needed) }
  })
