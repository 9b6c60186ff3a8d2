import { Context, Effect } from "effect"

/** Whether the database of a sandbox is out of reach now. Only where nothing is real. */
export class DatabaseSwitch extends Context.Service<
  DatabaseSwitch,
  { readonly isAway: () => boolean; readonly setAway: (isAway: boolean) => Effect.Effect<void> }
>()("@satrail/server/sandbox/DatabaseSwitch") {}

export const make = (): DatabaseSwitch["Service"] => {
  let away = false
  return DatabaseSwitch.of({ isAway: () => away, setAway: (isAway) => Effect.sync(() => void (away = isAway)) })
}
