import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Ids from "@satrail/core/base/Id"
import type { Kind } from "@satrail/http/api/Credentials"
import * as Errors from "@satrail/http/wire/Errors"
import { Effect } from "effect"
import { prefix } from "../core/PlatformKey.ts"
import { PlatformKeys } from "../core/PlatformKeys.ts"

/** The header with which a request names the account that a platform key acts for. */
export const header = "Satrail-Account"

const name = header.toLowerCase()

const unnamed = (message: string) =>
  Effect.fail(Errors.malformedRequest([{ path: header, message: `${message} the id of a company` }]))

/** Platform keys, as a kind of credential. The account is looked up only after the key has been checked. */
export const credential = Effect.map(PlatformKeys, (keys): Kind => ({
  prefix,
  header: name,
  caller: Effect.fnUntraced(function* (text, { headers }) {
    const key = yield* keys.check(text)
    const id = headers[name]?.toLowerCase()
    if (id === undefined) return yield* unnamed("is required with a platform key:")
    if (!Ids.is(id)) return yield* unnamed("must be")
    return yield* keys.actingFor(key, CompanyId.make(id))
  })
}))
