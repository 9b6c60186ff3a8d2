import * as Feature from "../Feature.ts"
import { readable, tables } from "./Tables.ts"

export const sessions = Feature.make({ tables, readable })
