import { Context } from "effect"

/** The list of a feature's records. */
export interface Listed {
  /** A record's name in messages. */
  readonly noun: string
  /** The route returns all records and accepts no `limit`. */
  readonly isUnpaged?: true
}

/** Lists by route. A shortened id after the route is looked up there. */
export const Collections = Context.Reference<{ readonly [route: string]: Listed }>("@satrail/server/client/Collections", {
  defaultValue: () => ({})
})
