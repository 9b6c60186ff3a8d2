import { type ComponentType, render } from "preact"
import { useEffect } from "preact/hooks"
import { Act } from "./parts.tsx"
import { SignIn, StepUp } from "./entrance.tsx"
import { events, follow } from "./live.ts"
import { Audit, OperatorAudit } from "./pages/audit.tsx"
import { Company, OperatorKey } from "./pages/company.tsx"
import { Key, Keys } from "./pages/keys.tsx"
import { Addresses, Events, Settings, Vouchers } from "./pages/lists.tsx"
import { Nodes } from "./pages/nodes.tsx"
import { Backlog, Companies, Health, Suspense } from "./pages/operator.tsx"
import { Offer } from "./pages/offers.tsx"
import { Overview } from "./pages/overview.tsx"
import { Checkout, Invoice, NewInvoice } from "./pages/receive.tsx"
import { Deposit, Withdrawal } from "./pages/record.tsx"
import { Send } from "./pages/send.tsx"
import { Transactions } from "./pages/transactions.tsx"
import { Webhook, Webhooks } from "./pages/webhooks.tsx"
import { route, to } from "./route.ts"
import { begin, pretended, session, signOut } from "./session.ts"

// Every screen by its address. What is in the menu has a title.

interface Screen {
  readonly title?: string
  readonly show: ComponentType<{ readonly id: string }>
}

const company: Readonly<Record<string, Screen>> = {
  "": { title: "Overview", show: Overview },
  transactions: { title: "Transactions", show: Transactions },
  receive: { title: "New invoice", show: NewInvoice },
  send: { title: "Send", show: Send },
  addresses: { title: "Addresses and domains", show: Addresses },
  vouchers: { title: "Vouchers and refunds", show: Vouchers },
  keys: { title: "API keys", show: Keys },
  webhooks: { title: "Webhooks", show: Webhooks },
  events: { title: "Events", show: Events },
  audit: { title: "Audit log", show: Audit },
  account: { title: "Account and key", show: Settings },
  invoice: { show: Invoice },
  checkout: { show: Checkout },
  offer: { show: Offer },
  deposit: { show: Deposit },
  withdrawal: { show: Withdrawal },
  key: { show: Key },
  webhook: { show: Webhook }
}

const operator: Readonly<Record<string, Screen>> = {
  "": { title: "Companies", show: Companies },
  health: { title: "Health", show: Health },
  nodes: { title: "Nodes and liquidity", show: Nodes },
  backlog: { title: "Backlog", show: Backlog },
  suspense: { title: "Suspense", show: Suspense },
  audit: { title: "Audit log", show: OperatorAudit },
  company: { show: Company },
  key: { show: OperatorKey }
}

/** The address says which page it is, so that a link to a part of one must not change it. */
const skip = (event: Event) => {
  event.preventDefault()
  document.querySelector<HTMLElement>("h1")?.focus()
}

const Nowhere = () => <h1>There is no such page</h1>

const Menu = ({ screens, at }: { readonly screens: Readonly<Record<string, Screen>>; readonly at: string }) => (
  <nav aria-label="Pages">
    <ul>
      {Object.entries(screens).map(
        ([path, { title }]) =>
          title !== undefined && (
            <li key={path}>
              <a href={to(path)} aria-current={path === at ? "page" : undefined}>
                {title}
              </a>
            </li>
          )
      )}
    </ul>
  </nav>
)

const Inside = () => {
  const isCompany = session.value?.kind === "company"
  const mayFollow = isCompany && session.value?.scopes.some((scope) => scope === "read" || scope === "admin")
  useEffect(() => (mayFollow ? follow() : undefined), [mayFollow])
  const screens = isCompany ? company : operator
  const [path = "", id = ""] = route.value.split("/")
  const Show = (Object.hasOwn(screens, path) ? screens[path] : undefined)?.show ?? Nowhere
  const newest = events.value[0]
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header>
        <strong>satrail</strong>
        <span class="soft">{session.value?.name}</span>
        <Act label="Sign out" act={signOut} />
      </header>
      {pretended.value.length > 0 && (
        <aside class="pretended" aria-label="Sandbox">
          Simulated here: {pretended.value.join(", ")}. Nothing has value.
        </aside>
      )}
      <Menu screens={screens} at={path} />
      <main id="main">
        <Show key={route.value} id={id} />
      </main>
      <p class="hidden" role="status">
        {newest === undefined ? "" : `Just now: ${newest.type}`}
      </p>
      <StepUp />
    </>
  )
}

const App = () => {
  if (session.value === undefined) return <p class="soft entrance">One moment …</p>
  return session.value === null ? <SignIn /> : <Inside />
}

const root = document.querySelector("#console")
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
  void begin()
}
