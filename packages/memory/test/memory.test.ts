import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
import * as Memory from "../src/Memory.ts"

Journal.suite("memory", Memory.layer)
Records.suite("memory", Memory.layer)
Tasks.suite("memory", Memory.layer)
