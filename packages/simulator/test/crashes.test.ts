import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

// One fate a position, each in its turn; crashes.slow.test.ts has every fate meet every position.
crashes("a process that dies or gets no response at any call", (position) => {
  // What happens again every four calls meets another fate each time.
  const turn = (position + Math.floor(position / 4)) % 4
  return Crash.fates.slice(turn, turn + 1)
})
