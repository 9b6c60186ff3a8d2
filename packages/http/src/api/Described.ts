import { Context } from "effect"

/** What a host says of what it runs on, for the operator: in words, without a password. */
export interface Description {
  readonly version?: string
  readonly database?: string
  readonly node?: string
  readonly chain?: string
  /** Where exchange rates are from. */
  readonly rates?: string
}

/** A host that says nothing has nothing shown. */
export const Described = Context.Reference<Description>("@satrail/http/api/Described", { defaultValue: () => ({}) })
