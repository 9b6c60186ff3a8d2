import * as Feature from "../Feature.ts"
import { migrations, tables } from "./Tables.ts"

export const vouchers = Feature.make({ tables, migrations })
