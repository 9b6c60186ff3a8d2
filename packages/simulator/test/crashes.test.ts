import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

// One fate a position, each in its turn; crashes.slow.test.ts has every fate meet every position.
crashes("C10: simulator: crashed or left without an answer at any call, it ends as if nothing had been:", (position) =>
  Crash.fates.slice(position % 4, (position % 4) + 1)
)
