import * as Feature from "@satrail/postgres/client/Feature"
import { migrations, readable } from "./Tables.ts"

export const people = Feature.make({ migrations, readable })
