import { AuditLog } from "@satrail/core/features/audit/AuditLog"
import { Effect, Layer } from "effect"
import * as Acting from "../../edge/Acting.ts"
import * as Feature from "../Feature.ts"
import * as Audit from "./Audit.ts"
import * as AuditHeadView from "./AuditHeadView.ts"

export const audit = Feature.make({
  sections: [Audit.section],
  operatorSections: [Audit.operatorSection],
  views: { auditHead: AuditHeadView.view },
  provides: [
    Layer.effect(
      Acting.Refusals,
      Effect.map(AuditLog, ({ refused }) => refused)
    )
  ]
})
