import { StatementReads } from "@satrail/core/features/statements/StatementReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const statements = Feature.make({ tables, reads: Feature.reads(StatementReads, make) })
