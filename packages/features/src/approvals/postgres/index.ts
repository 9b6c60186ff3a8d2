import { ApprovalReads } from "../core/ApprovalReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"

export const approvals = Feature.make({ reads: Feature.reads(ApprovalReads, make) })
