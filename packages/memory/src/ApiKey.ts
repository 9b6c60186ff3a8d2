import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Option } from "effect"
import { creation, type Kind, own } from "./Program.ts"
import * as State from "./State.ts"

const issued: Kind<ApiKey.ApiKeyIssued> = {
  before: (state, change) => creation(change, ApiKey.noun, State.of(state, ApiKey.noun), change.apiKey),
  move: (state, { companyId, apiKey, replaces }) => {
    const next = State.put(state, ApiKey.noun, apiKey)
    const old = replaces && Option.getOrUndefined(State.get(state, ApiKey.noun, companyId, replaces.id))
    if (!old || !replaces) return next
    return State.put(next, ApiKey.noun, { ...old, expiresAtMillis: Math.min(old.expiresAtMillis ?? Infinity, replaces.expiresAtMillis) })
  }
}

const used: Kind<ApiKey.ApiKeyUsed> = {
  before: (state, change) => ((own(state, ApiKey.noun, change).lastUsedAtMillis ?? -1) < change.atMillis ? undefined : "again"),
  move: (state, change) => State.put(state, ApiKey.noun, { ...own(state, ApiKey.noun, change), lastUsedAtMillis: change.atMillis })
}

export const kinds = { ApiKeyIssued: issued, ApiKeyUsed: used }
