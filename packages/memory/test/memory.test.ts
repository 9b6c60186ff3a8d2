import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
import * as Memory from "@satrail/service/memory/Memory"

Journal.suite("memory", Memory.layer)
Records.suite("memory", Memory.layer)
Tasks.suite("memory", Memory.layer)
