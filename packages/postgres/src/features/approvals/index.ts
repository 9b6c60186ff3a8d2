import { ApprovalReads } from "@satrail/core/features/approvals/ApprovalReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"

export const approvals = Feature.make({ reads: Feature.reads(ApprovalReads, make) })
