import * as Feature from "@satrail/postgres/client/Feature"
import { migrations, readable, tables } from "./Tables.ts"

export const people = Feature.make({ tables, migrations, readable })
