import * as Feature from "../Feature.ts"
import { migrations, readable, tables } from "./Tables.ts"

export const sessions = Feature.make({ tables, migrations, readable })
