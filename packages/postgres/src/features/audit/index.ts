import * as Feature from "../Feature.ts"
import { rights, tables } from "./Tables.ts"

export const audit = Feature.make({ tables, rights })
