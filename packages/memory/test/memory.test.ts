import * as Journal from "@satrail/contracts/Journal"
import * as Records from "@satrail/contracts/Records"
import * as Tasks from "@satrail/contracts/Tasks"
import * as Memory from "../src/Memory.ts"

Journal.suite("memory", Memory.layer)
Records.suite("memory", Memory.layer)
Tasks.suite("memory", Memory.layer)
