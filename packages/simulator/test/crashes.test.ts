import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

// One fate a position, each in its turn; crashes.slow.test.ts has every fate meet every position.
crashes("a process that dies or gets no response at any call", (position) => Crash.fates.slice(position % 4, (position % 4) + 1))
