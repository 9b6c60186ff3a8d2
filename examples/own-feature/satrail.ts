// satrail's command line with the feature's commands: node satrail.ts boxes list
import { run } from "@satrail/server/run"
import { feature } from "./Feature.ts"

run([feature])
