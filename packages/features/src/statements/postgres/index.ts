import { StatementReads } from "../core/StatementReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const statements = Feature.make({ tables, reads: Feature.reads(StatementReads, make) })
