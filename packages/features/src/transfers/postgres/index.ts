import * as Feature from "@satrail/postgres/client/Feature"
import { migrations } from "./Tables.ts"

export const transfers = Feature.make({ migrations })
