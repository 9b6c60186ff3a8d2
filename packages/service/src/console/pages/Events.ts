import { h } from "preact"
import { features } from "../../features/console.ts"
import { type Kind, type List, pagesOf } from "@satrail/ui/console/List"
import type { Page, Shown, Visit } from "@satrail/ui/console/Page"
import { body, button, copied, date, factPanel, panel } from "@satrail/ui/console/Parts"
import { rowLink } from "@satrail/ui/console/Table"
import type { Event } from "@satrail/ui/console/wire"

const kinds = [
  "invoice",
  "deposit",
  "withdrawal",
  ...features.flatMap(({ records }) => records?.eventKind ?? [])
]

const kind = (name: string): Kind<Event> => [
  name,
  `${name.charAt(0).toUpperCase()}${name.slice(1)}s`,
  ({ type }) => type.startsWith(`${name}.`)
]

/** The id of the record that an event is about, or the name of the domain. */
const subjectOf = ({ data }: Event): string => ("id" in data ? data.id : "domain" in data ? data.domain : "")

const list: List<Event> = {
  path: "events",
  nav: "events",
  title: "Events",
  lead: "The events that webhooks send, for the last 90 days. Programs can also read them as a feed or a stream.",
  glyph: "list",
  noun: "events",
  none: "Events appear here as soon as something happens.",
  read: ({ api, query }, { limit, cursor }) => {
    const name = kinds.find((one) => one === query.get("status"))
    return api.events({ limit, cursor, types: name === undefined ? undefined : `${name}.*` })
  },
  at: ({ timestamp }) => timestamp,
  kinds: kinds.map(kind),
  columns: ({ say, to }) => [
    {
      title: "When",
      place: "c3",
      kind: "faint",
      isSorted: true,
      cell: ({ timestamp }) => date(say, timestamp)
    },
    {
      title: "What",
      place: "c1",
      cell: ({ id, type }) => rowLink(to(`events/${id}`), h("code", null, type))
    },
    { title: "Of", place: "all", kind: "soft", cell: (event) => h("code", null, subjectOf(event)) }
  ],
  csv: ["timestamp", "id", "type", ["subject", subjectOf], "data"]
}

const show = async ({ api, say, to, id }: Visit): Promise<Shown> => {
  const event = await api.call("GET /v1/events/{id}", { params: { id } })
  const subject = subjectOf(event)
  return {
    title: event.type,
    crumbs: [["Events", "events"]],
    actions: subject !== "" && button(to(`search?q=${encodeURIComponent(subject)}`), "Find its record"),
    body: [
      factPanel("Details", [
        ["When", date(say, event.timestamp)],
        ["Event", copied(event.id, "event id")],
        ["Of", copied(subject, "id of the record")]
      ]),
      panel("Body", {}, body(h("pre", null, JSON.stringify(event, null, 2))))
    ]
  }
}

export const events: ReadonlyArray<Page> = [
  ...pagesOf(list),
  { path: "events/:id", nav: "events", get: show }
]
