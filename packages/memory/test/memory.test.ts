import * as CellRegistryContract from "@satrail/contracts/CellRegistry"
import * as Journal from "@satrail/contracts/Journal"
import * as Records from "@satrail/contracts/Records"
import * as Tasks from "@satrail/contracts/Tasks"
import { Layer } from "effect"
import * as CellRegistry from "../src/CellRegistry.ts"
import * as Memory from "../src/Memory.ts"

Journal.suite("memory", Memory.layer)
Records.suite("memory", Memory.layer)
Tasks.suite("memory", Memory.layer)
CellRegistryContract.suite("memory", Layer.sync(CellRegistryContract.CellRegistry, CellRegistry.make))
