import { Context } from "effect"

/** The list of a feature's records. */
export interface Listed {
  /** A record's name in messages. */
  readonly noun: string
  /** Set if the route returns all records and accepts no `limit`. */
  readonly isUnpaged?: true
}

/** The lists by route. A shortened id that follows a list's route is looked up in that list. */
export const Collections = Context.Reference<{ readonly [route: string]: Listed }>(
  "@satrail/http/commands/Collections",
  {
    defaultValue: () => ({})
  }
)
