import * as Lnd from "@satrail/nodes/Lnd"
import * as Macaroon from "@satrail/nodes/Macaroon"
import { Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { isPath, reasonOf } from "../base/Files.ts"

/** A macaroon with all required permissions. */
export interface Usable {
  readonly hex: Redacted.Redacted
  /** Permissions beyond the required ones. */
  readonly excessive: ReadonlyArray<string>
}

/** Returns the command that bakes a macaroon for these calls only. */
export const bake = (needed: ReadonlyArray<Macaroon.Call>): string =>
  `lncli bakemacaroon ${needed.map(({ uri }) => `uri:${uri}`).join(" ")}`

const hexOf = (name: string, text: string): Result.Result<string, string> => {
  if (/^([0-9a-f]{2})+$/i.test(text) && text.length >= 64) return Result.succeed(text)
  return Result.try({
    try: () => readFileSync(text, "hex"),
    catch: (cause) =>
      isPath(text)
        ? `${name} cannot be read: ${text}: ${reasonOf(cause)}. Give the path of a macaroon that this user may read, or the macaroon in hex.`
        : `${name} is neither a macaroon in hex nor the path of a file (not shown, it may be a secret). Give an absolute path, or the hex that \`xxd -p -c 1000 FILE\` prints.`
  })
}

const holding = [...Lnd.receiverCalls, ...Lnd.holdingCalls]

/**
 * Returns the calls that the receiver's macaroon must allow. Calls for hold invoices are included only if the
 * macaroon allows them, because macaroons baked for earlier versions don't.
 */
export const receiverCalls = (name: string, given: Redacted.Redacted): ReadonlyArray<Macaroon.Call> =>
  Result.isSuccess(read(name, given, holding)) ? holding : Lnd.receiverCalls

/** Returns whether these calls include those for hold invoices. */
export const holds = (calls: ReadonlyArray<Macaroon.Call>): boolean => calls === holding

/**
 * Reads the macaroon that the variable `name` contains in hex, or the file that it names, and checks the
 * macaroon's permissions. Fails with a message that states the remedy.
 */
export const read = (
  name: string,
  given: Redacted.Redacted,
  needed: ReadonlyArray<Macaroon.Call>
): Result.Result<Usable, string> =>
  Result.gen(function* () {
    const hex = yield* hexOf(name, Redacted.value(given))
    const granted = yield* Result.mapError(
      Macaroon.permissions(hex),
      (why) => `${name} is not usable: ${why}. Give a macaroon made by \`lncli bakemacaroon\`.`
    )
    const missing = Macaroon.missing(granted, needed)
    if (missing.length > 0) {
      return yield* Result.fail(
        `${name} lacks required permissions. Bake one with: ${bake(needed)}\n  missing: ${missing.map(({ uri }) => uri).join(", ")}`
      )
    }
    return { hex: Redacted.make(hex, { label: name }), excessive: Macaroon.excessive(granted, needed) }
  })
