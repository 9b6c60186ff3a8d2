import * as Feature from "../Feature.ts"
import * as Audit from "./Audit.ts"
import * as AuditHeadView from "./AuditHeadView.ts"

export const audit = Feature.make({
  sections: [Audit.section],
  operatorSections: [Audit.operatorSection],
  views: { auditHead: AuditHeadView.view }
})
