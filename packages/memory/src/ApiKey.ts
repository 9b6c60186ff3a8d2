import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ProtectionMoved } from "@satrail/core/accounts/Loosening"
import { Equal, Option } from "effect"
import { creation, type Kind, own } from "./Program.ts"
import * as State from "./State.ts"

/** Returns whether the replaced key has other restrictions than the Change expects. */
const isMoved = (
  state: State.State,
  { companyId, replaces }: ApiKey.ApiKeyIssued | ApiKey.ApiKeyApproved,
  expects: ApiKey.ApiKeyApproved["expects"]
): boolean => {
  const old = replaces && Option.getOrUndefined(State.get(state, ApiKey.noun, companyId, replaces.id))
  return (
    !!old &&
    expects !== undefined &&
    !(Equal.equals(old.limits, expects.limits) && Equal.equals(old.allowedFrom, expects.allowedFrom))
  )
}

/** Makes the replaced key expire at the given time, unless it expires earlier. */
const ended = (
  state: State.State,
  companyId: ApiKey.ApiKey["companyId"],
  replaces: ApiKey.Replaces | null
): State.State => {
  const old = replaces && Option.getOrUndefined(State.get(state, ApiKey.noun, companyId, replaces.id))
  if (!old || !replaces) return state
  return State.put(state, ApiKey.noun, {
    ...old,
    expiresAtMillis: Math.min(old.expiresAtMillis ?? Infinity, replaces.expiresAtMillis)
  })
}

const issued: Kind<ApiKey.ApiKeyIssued> = {
  before: (state, change) => creation(change, ApiKey.noun, State.of(state, ApiKey.noun), change.apiKey),
  move: (state, change) =>
    isMoved(state, change, change.apiKey)
      ? new ProtectionMoved({ id: change.id })
      : ended(State.put(state, ApiKey.noun, change.apiKey), change.companyId, change.replaces)
}

const approved: Kind<ApiKey.ApiKeyApproved> = {
  before: (state, change) => {
    const row = own(state, ApiKey.noun, change)
    return row.revokedAtMillis === null && ApiKey.isWaiting(row) ? undefined : "again"
  },
  move: (state, change) => {
    if (isMoved(state, change, change.expects)) return new ProtectionMoved({ id: change.id })
    const { companyId, approvedBy, atMillis: approvedAtMillis, replaces } = change
    return ended(
      State.put(state, ApiKey.noun, { ...own(state, ApiKey.noun, change), approvedBy, approvedAtMillis }),
      companyId,
      replaces
    )
  }
}

const used: Kind<ApiKey.ApiKeyUsed> = {
  before: (state, change) =>
    (own(state, ApiKey.noun, change).lastUsedAtMillis ?? -1) < change.atMillis ? undefined : "again",
  move: (state, change) =>
    State.put(state, ApiKey.noun, { ...own(state, ApiKey.noun, change), lastUsedAtMillis: change.atMillis })
}

export const kinds = { ApiKeyIssued: issued, ApiKeyApproved: approved, ApiKeyUsed: used }
