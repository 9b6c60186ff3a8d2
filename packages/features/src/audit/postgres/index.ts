import * as Feature from "@satrail/postgres/client/Feature"
import { rights, tables } from "./Tables.ts"

export const audit = Feature.make({ tables, rights })
