import { Context, Effect } from "effect"

/** Makes a sandbox's database unavailable. Exists only if everything is simulated. */
export class DatabaseSwitch extends Context.Service<
  DatabaseSwitch,
  { readonly isAway: () => boolean; readonly setAway: (isAway: boolean) => Effect.Effect<void> }
>()("@satrail/server/sandbox/DatabaseSwitch") {}

export const make = (): DatabaseSwitch["Service"] => {
  let away = false
  return DatabaseSwitch.of({
    isAway: () => away,
    setAway: (isAway) => Effect.sync(() => void (away = isAway))
  })
}
