import * as Feature from "../Feature.ts"
import { migrations, readable } from "./Tables.ts"

export const people = Feature.make({ migrations, readable })
