import { AuditLog } from "../core/AuditLog.ts"
import { Effect, Layer } from "effect"
import * as Acting from "@satrail/http/edge/Acting"
import * as Feature from "@satrail/http/api/Feature"
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
