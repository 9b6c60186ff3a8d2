import { companyPage, companyPanel } from "./CompanyWebhooks.ts"
import { concerns, mark, problems } from "./Failing.ts"
import { webhooks as pages } from "./Webhooks.ts"
import { webhookSettings as settings } from "./WebhookSettings.ts"
import { may } from "@satrail/ui/console/Page"
import { type Feature, lateNotices } from "@satrail/ui/console/Feature"

export const webhooks: Feature = {
  name: "webhooks",
  records: { company: "Webhook endpoint" },
  pages: [...settings, ...pages],
  operatorPages: [...settings.map((page) => ({ ...page, needs: "all" as const })), ...pages, companyPage],
  entry: {
    section: "Developers",
    rank: 20,
    name: "webhooks",
    path: "webhooks",
    text: "Webhooks",
    glyph: "hook",
    mark
  },
  operatorEntry: {
    section: "Installation",
    rank: 30,
    name: "webhooks",
    path: "webhooks",
    text: "Webhooks",
    glyph: "hook"
  },
  keys: { scope: ["webhooks", "Webhooks", "Add and change webhook endpoints"] },
  overview: {
    concerns,
    setup: async (visit) =>
      may(visit, "webhooks")
        ? {
            text: "Add a webhook",
            why: "Your shop is notified of a payment within a second.",
            href: visit.to("webhooks/new"),
            isDone: (await visit.api.call("GET /v1/webhook-endpoints")).length > 0
          }
        : undefined
  },
  troubles: {
    problems,
    alarms: {
      SatrailWebhooksFail: {
        title: "Most webhook attempts fail",
        guide: "incidents#missing-webhook",
        path: "webhooks",
        isRemote: true
      }
    },
    late: { title: "Webhooks are late", text: lateNotices, guide: "incidents#missing-webhook" }
  },
  ofCompany: { panel: companyPanel }
}
