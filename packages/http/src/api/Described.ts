import { Context } from "effect"

/** The host's description of its backends for the operator, without passwords. */
export interface Description {
  readonly version?: string
  readonly database?: string
  readonly node?: string
  readonly chain?: string
  /** Source of exchange rates. */
  readonly rates?: string
}

/** The host's description. Default: empty. */
export const Described = Context.Reference<Description>("@satrail/http/api/Described", {
  defaultValue: () => ({})
})
