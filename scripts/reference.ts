// The pages of docs/reference and the pictures of docs/assets, made from what they describe and show: npm run docs
import { Completions } from "effect/cli"
import { writeFileSync } from "node:fs"
import { maxHeaderSize } from "node:http"
import path from "node:path"
import * as BitcoinAddress from "../packages/bitcoin/src/BitcoinAddress.ts"
import * as Bolt11 from "../packages/bitcoin/src/Bolt11.ts"
import * as Bolt12 from "../packages/bitcoin/src/Bolt12.ts"
import * as LightningAddressText from "../packages/bitcoin/src/LightningAddressText.ts"
import * as Msat from "../packages/bitcoin/src/Msat.ts"
import * as ChainBooks from "../packages/chain/src/Books.ts"
import { maxCounted } from "../packages/core/src/accounts/AccountReads.ts"
import * as ApiKeys from "../packages/core/src/accounts/ApiKeys.ts"
import * as Companies from "../packages/core/src/accounts/Companies.ts"
import * as AllowedFrom from "../packages/core/src/accounts/AllowedFrom.ts"
import * as CompanyFees from "../packages/core/src/accounts/CompanyFees.ts"
import * as Limits from "../packages/core/src/accounts/Limits.ts"
import * as Loosening from "../packages/core/src/accounts/Loosening.ts"
import * as WalletNotices from "../packages/core/src/features/wallet-connect/WalletNotices.ts"
import * as WalletPayments from "../packages/core/src/features/wallet-connect/WalletPayments.ts"
import * as WalletRequests from "../packages/core/src/features/wallet-connect/WalletRequests.ts"
import * as WalletService from "../packages/core/src/features/wallet-connect/WalletService.ts"
import * as OwnKeys from "../packages/core/src/accounts/OwnKeys.ts"
import * as Caller from "../packages/core/src/base/Caller.ts"
import * as Measure from "../packages/core/src/base/Measure.ts"
import * as Metadata from "../packages/core/src/base/Metadata.ts"
import * as Pool from "../packages/core/src/base/Pool.ts"
import * as Throttle from "../packages/core/src/base/Throttle.ts"
import { maxNames, type Rate } from "../packages/core/src/base/Throttle.ts"
import * as Limit from "../packages/core/src/ledger/Limit.ts"
import * as Page from "../packages/core/src/ledger/Page.ts"
import * as ChainSource from "../packages/core/src/nodes/ChainSource.ts"
import * as Versions from "../packages/core/src/nodes/Versions.ts"
import { maxCharacters } from "../packages/core/src/nodes/SuccessAction.ts"
import { defaults } from "../packages/core/src/service/Policy.ts"
import { maxNamed } from "../packages/core/src/reports/reconciliation/Backlog.ts"
import { feeRateBlocks } from "../packages/core/src/receiving/FeeRates.ts"
import * as Invoice from "../packages/core/src/receiving/Invoice.ts"
import * as LightningAddress from "../packages/core/src/receiving/LightningAddress.ts"
import * as LightningAddresses from "../packages/core/src/receiving/LightningAddresses.ts"
import * as LookUps from "../packages/core/src/receiving/LookUps.ts"
import * as AuditLog from "../packages/core/src/features/audit/AuditLog.ts"
import * as Statement from "../packages/core/src/features/statements/Statement.ts"
import * as Transaction from "../packages/core/src/reports/Transaction.ts"
import * as Destination from "../packages/core/src/sending/Destination.ts"
import * as Handover from "../packages/core/src/sending/Handover.ts"
import * as Payout from "../packages/core/src/sending/Payout.ts"
import { all as features } from "../packages/core/src/service/Following.ts"
import * as Document from "../packages/ui/src/checkout/Document.ts"
import * as CheckoutPage from "../packages/http/src/features/checkouts/CheckoutPage.ts"
import * as Decoding from "../packages/http/src/wire/Decoding.ts"
import * as Docs from "../packages/http/src/pages/Docs.ts"
import * as Errors from "../packages/http/src/wire/Errors.ts"
import * as EventFilters from "../packages/http/src/events/Feed.ts"
import * as Edge from "../packages/http/src/edge/Edge.ts"
import * as Events from "../packages/http/src/wire/Events.ts"
import * as ConsoleSession from "../packages/http/src/features/sessions/ConsoleSession.ts"
import * as Lanes from "../packages/http/src/edge/Lanes.ts"
import * as RequestRates from "../packages/http/src/edge/RequestRates.ts"
import * as Extension from "../packages/http/src/edge/Extension.ts"
import * as SignInLinks from "../packages/http/src/features/sessions/SignInLinks.ts"
import * as Readiness from "../packages/http/src/api/Readiness.ts"
import * as Reconciliation from "../packages/http/src/resources/Reconciliation.ts"
import * as Reference from "../packages/http/src/pages/Reference.ts"
import * as Sheet from "../packages/http/src/wire/Sheet.ts"
import * as Commits from "../packages/postgres/src/journal/Commits.ts"
import * as Faults from "../packages/sandbox/src/Faults.ts"
import * as Inbox from "../packages/sandbox/src/Inbox.ts"
import * as Lightning from "../packages/sandbox/src/Lightning.ts"
import * as PretendNames from "../packages/sandbox/src/PretendNames.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"
import * as Survey from "../packages/sandbox/src/Survey.ts"
import * as Time from "../packages/sandbox/src/Time.ts"
import { satrail } from "../packages/server/src/commands/Commands.ts"
import * as Commands from "../packages/server/src/commands/Reference.ts"
import * as Environment from "../packages/server/src/deployment/Environment.ts"
import * as Listener from "../packages/server/src/serving/Listener.ts"
import { api } from "../packages/server/src/serving/Server.ts"
import * as Wire from "./wire.ts"
import * as DnsMessage from "../packages/web/src/DnsMessage.ts"
import * as ValidatingResolver from "../packages/web/src/ValidatingResolver.ts"
import * as Outbound from "../packages/web/src/Outbound.ts"
import * as Pace from "../packages/web/src/Pace.ts"
import * as Rates from "../packages/web/src/Rates.ts"
import * as WebSocketSessions from "../packages/web/src/WebSocketSessions.ts"
import * as Recipes from "../packages/server/test/refusals/Recipes.ts"
import * as Defences from "../test/defences/Page.ts"
import * as Pictures from "./pictures/Pictures.ts"

const made = "<!-- Made by `npm run docs` from the code: change it there. -->\n"

const sats = (amount: Msat.Msat): string => `${Msat.toSats(amount)} sats`
const rate = ({ base, partsPerMillion }: { readonly base: Msat.Msat; readonly partsPerMillion: bigint }): string =>
  `${sats(base)} + ${Number(partsPerMillion) / 10_000} %`

const often = ({ count, everyMillis }: Rate): string => `${count} at once, then one every ${everyMillis / 1000} s, by default`

const metrics = (): string => {
  const rows = Measure.all().map(
    ({ name, type, labels, description }) => `| \`${name}\` | ${type} | ${labels.join(", ")} | ${description} |`
  )
  const head = ["| metric | type | by | what it is |", "|---|---|---|---|"]
  const about =
    "In Prometheus's text format at `GET /operator/metrics`, with the operator's token. Each process counts for itself, since its start; what describes the store (backlog, books) is the same in all. " +
    "Seconds are seconds, sats are satoshis; of a histogram there are `_bucket`, `_sum` and `_count`. No label names a company. " +
    "[Alarms](../../deploy/prometheus/rules.yaml) and a [dashboard](../../deploy/grafana/satrail.json) are over these; [what to do](../guides/monitor.md)."
  return ["# Metrics", about, [...head, ...rows].join("\n")].join("\n\n") + "\n"
}

const families = Object.values(Caller.widths).flat()
/** The widths of networks by their share, the narrowest first: `/32, /64`. */
const networks = [1, 4, 16].map((times) => ({
  times,
  title: families
    .filter((one) => one.times === times)
    .map(({ bits }) => `/${bits}`)
    .join(", ")
}))

/** The pools that callers without a key can fill, and how they share them. */
const pools = (): ReadonlyArray<string> => {
  const { lnurl } = defaults
  const callbacks: Pool.Shares<"company" | "address"> = {
    most: lnurl.open,
    perCaller: lnurl.openPerCaller,
    per: { company: lnurl.openPerCompany, address: lnurl.openPerAddress }
  }
  const places = (what: string, { most, perCaller, per }: Pool.Shares<string>) => {
    const { company, ...others } = per
    const shares = Object.entries(others).map(([name, share]) => `${share} for one ${name}`)
    const callers = networks.map(({ times }) => Pool.shareOfNetwork({ most, perCaller }, times))
    return `| ${[what, most, [company ?? "–", ...shares].join("; "), ...callers].join(" | ")} |`
  }
  const often = ({ everyMillis }: Rate, times: number) => Math.round((60_000 / everyMillis) * times)
  const requests = (what: string, perCaller: Rate | undefined, all: string) =>
    `| ${[what, all, ...networks.map(({ times }) => (perCaller === undefined ? "1 beyond" : often(perCaller, times)))].join(" | ")} |`
  const perMinute = (count: number): Rate => ({ count, everyMillis: 60_000 / count })
  return [
    "## Pools that callers without a key share",
    "",
    "Each process counts for itself. A caller is an IPv4 address or an IPv6 /64. It also counts in the networks around it, and each wider network has four times the share of the next narrower one.",
    "",
    "### Places",
    "",
    "When a share is full, no request is refused: the largest holder of that share loses its oldest place. The largest holder is found from the widest network down: the network with the most places, then the narrower network in it with the most places, down to one caller. If no network holds more than one place, it is the company with the most places. An unpaid invoice that loses its place is canceled at the node; if a payment was faster, it is credited. A checkout page that loses its stream connects again. A network never has more than half of all places.",
    "",
    `| pool | places | one company; others | ${networks.map(({ title }) => title).join(" | ")} |`,
    `|---|---|---|${networks.map(() => "---").join("|")}|`,
    places("unpaid invoices for wallets (LNURL and `/pay/to`)", callbacks),
    places("streams to checkout pages", CheckoutPage.streams),
    places("connections, without a proxy in front (`SATRAIL_PROXIES=0`)", { ...Listener.sharesOf(4096), per: {} }),
    `| remembered answers of Nostr Wallet Connect (an app counts as a caller) | ${WalletRequests.kept.most} | – | ${WalletRequests.kept.perCaller} | – | – |`,
    "",
    "### Requests a minute",
    "",
    `The first callers use up a shared rate. After that it serves only networks (/24 or /48) that sent no request in the last minute, up to ${Throttle.reserve.times} times the rate.`,
    "",
    `| requests | shared by all | ${networks.map(({ title }) => title).join(" | ")} |`,
    `|---|---|${networks.map(() => "---").join("|")}|`,
    requests("invoices for wallets", lnurl.perCaller, `${often(lnurl.perAddress, 1)} at one Lightning address`),
    requests("claims of vouchers", lnurl.perCaller, "–"),
    requests("sign-ins and step-ups in the console", perMinute(ConsoleSession.attemptsPerMinute), "–"),
    requests(
      "requests without a valid key: `/v1` and `/operator` with a wrong key, `/pay` and what is below it, LNURL for addresses and vouchers, `/console/session`, `/tls/ask` from another machine",
      perMinute(RequestRates.perStranger),
      "–"
    ),
    "",
    "A voucher's secret (`k1`) takes no place that strangers share: only a company's key creates one, it pays one claim at a time, and a request with an unknown `k1` creates nothing.",
    "",
    "`/tls/ask` counts callers from another machine. The proxy on the same machine asks for all of them, so it has no limit.",
    "",
    "Nostr Wallet Connect has no caller addresses, since requests arrive from a relay: see the rows above for each app and for each relay. Requests from unknown apps take no place that other apps need."
  ]
}

const limits = (): string => {
  const rows: ReadonlyArray<readonly [what: string, value: string | number]> = [
    ["request body, bytes", Edge.maxBodyBytes],
    [
      "bytes of bodies that a process begins to read in one turn of its event loop: it drops requests of clients that have left by the next",
      Listener.turnBytes
    ],
    ["time limit of a request, seconds", Edge.timeoutMillis / 1000],
    ["sign-ins and step-ups from one address in one process, a minute", ConsoleSession.attemptsPerMinute],
    ["minutes in which a printed link signs in, once", SignInLinks.lifeMillis / 60_000],
    [
      "requests of one company that a process works on at once while others ask too, where others do within the last second / minute / seconds that one more waits at most",
      `${Lanes.width} / ${Lanes.wideWidth} / ${Lanes.maxWaitMillis / 1000}`
    ],
    [
      "requests with one key within a second, of those that it has in a minute / worked on at once, of these; the others within the second",
      `1/${RequestRates.burstPart}, at least ${RequestRates.least} / 1/${RequestRates.promptPart}, at least ${RequestRates.least}`
    ],
    [
      "refusals of one key a second that are answered at once / later ones that wait, in all / for how long, seconds",
      `${1000 / RequestRates.promptRefusals.everyMillis} / ${RequestRates.maxLate} / ${RequestRates.lateMillis / 1000} to ${(RequestRates.lateMillis + RequestRates.maxLate * RequestRates.apartMillis) / 1000}`
    ],
    ["open streams of one extension in one process, by default", Extension.maxStreams],
    ["duration of a stream, minutes, by default", Extension.maxStreamMillis / 60_000],
    [
      "exports and audit logs as files that a process answers at once, of a company or the operator / in all",
      `${Sheet.maxTables.each} / ${Sheet.maxTables.all}`
    ],
    ["time after a month's end until its statement is final, minutes", Statement.settlingMillis / 60_000],
    ["time between two comments in a silent stream of events, seconds", Events.heartbeatMillis / 1000],
    ["smallest invoice or withdrawal", sats(defaults.minAmount)],
    ["largest invoice, by default", sats(defaults.maxInvoice)],
    ["largest withdrawal, by default", sats(defaults.maxWithdrawal)],
    ["recipients in the limits of a key or a company", Limits.maxRecipients],
    ["addresses and ranges that a key may be used from", AllowedFrom.maxRanges],
    ["time for which a request to loosen limits waits for the second operator, hours", Loosening.waitMillis / 3_600_000],
    ["open API keys of a company, where it makes another one itself", OwnKeys.maxOpen],
    [
      "fees of a company's own: largest fixed part / share of the amount, parts per million",
      `${CompanyFees.maxBaseSats} sats / ${CompanyFees.maxPartsPerMillion}`
    ],
    [
      "steps in which the window of a limit slides, minutes",
      Object.entries(Limit.windows)
        .map(([name, { stepMillis }]) => `${name}: ${stepMillis / 60_000}`)
        .join(", ")
    ],
    ["largest amount (all bitcoin)", sats(Msat.max)],
    ...BitcoinAddress.Kind.literals.map(
      (kind) => [`smallest on-chain payment to ${kind}`, `${BitcoinAddress.dustLimitSats(kind)} sats`] as const
    ),
    [
      "invoice lifetime, seconds",
      `${Invoice.expirySeconds.minimum} to ${Invoice.expirySeconds.maximum}, ${Invoice.expirySeconds.default} by default`
    ],
    [
      "invoice description, bytes of UTF-8 (wallets made with LDK 0.1.0 and 0.1.1 cannot read one of more than 476)",
      Bolt11.maxDescriptionBytes
    ],
    [
      "values in the body of a request (members and items, at any depth) / parameters of its query",
      `${Decoding.most.values} / ${Decoding.most.parameters}`
    ],
    ["issues that a refusal reports / characters of each", `${Errors.reported.issues} / ${Errors.reported.messageCharacters}`],
    ["event types that a webhook endpoint or a query can name", EventFilters.maxFilters],
    ["metadata keys", Metadata.limits.keys],
    ["characters of a metadata key / value", `${Metadata.limits.keyCharacters} / ${Metadata.limits.valueCharacters}`],
    ["characters of a destination", Destination.maxLength],
    ["characters of a BOLT 12 offer, with its pluses and the spaces after them", Bolt12.maxLength],
    ["characters of a handle", LightningAddressText.maxHandleLength],
    ["characters of a name", Companies.maxNameCharacters],
    ["overlap of a rotated API key, seconds", ApiKeys.maxOverlapSeconds],
    [
      "requests of an app by Nostr Wallet Connect, a minute / at once / age of one, seconds",
      `${WalletRequests.perConnection.count} / ${WalletRequests.atOnce} / ${WalletRequests.maxAgeSeconds}`
    ],
    [
      "requests of all apps at one relay that are worked on at once / wait in the process / bytes of one, as its relay sends it",
      `${WalletService.atOnce} / ${WebSocketSessions.maxWaiting} / ${WebSocketSessions.maxBytes}`
    ],
    ["time that an app waits for the end of its payment, seconds", WalletPayments.payWaitMillis / 1000],
    ["apps of a company that are told of its payments", WalletNotices.maxApps],
    ["records on a page of any list that says nothing else", `1 to ${Page.limit.maximum}, ${Page.limit.default} by default`],
    ["rows that a page of a filtered list looks at", Page.looks],
    ["API keys of a company that are counted for the operator", maxCounted],
    ["transactions on a page", `1 to ${Transaction.limit.maximum}, ${Transaction.limit.default} by default`],
    ["characters of an Idempotency-Key", "1 to 255, visible ASCII"],
    ["time for the headers of a request to arrive, seconds", Listener.headersMillis / 1000],
    ["headers of a request / their bytes", `${Listener.maxHeaders} / ${maxHeaderSize}`],
    [
      "confirmations of a deposit, by the company's pending total or the block's total, whichever is more",
      defaults.confirmations.map(({ confirmations, upTo }) => `${confirmations} up to ${sats(upTo)}`).join(", ")
    ],
    [
      "smallest on-chain deposit that is credited",
      `${sats(defaults.minDeposit)}, or the cost of spending it at the lowest fee rate of the last ${feeRateBlocks.most} blocks, if that is more`
    ],
    ["confirmations of a coinbase deposit, at least", ChainSource.coinbaseMaturity],
    ["confirmations of a payout", defaults.payoutConfirmations],
    ["confirmations of a payout that was replaced", defaults.replacedConfirmations],
    ["time until an unmined payout is replaced, minutes", defaults.replacement.afterMillis / 60_000],
    ["highest cost of a replacement, times the fee reserve", defaults.replacement.allowances],
    ["depth at which a payout is final, blocks", defaults.payoutBuriedAt],
    ["inputs of one payout, at most", Payout.maxCoins],
    ["payouts of one batch, at most", defaults.payoutOutputs],
    ["age of an exchange rate, at most, seconds", defaults.maxRateAgeMillis / 1000],
    ["interval between two requests to a source of exchange rates, seconds", Rates.refreshMillis / 1000],
    ["sources that must agree on a rate, besides more than half", Rates.rules.minAgreeing],
    ["deviation from their median, at most", `${Rates.rules.maxDeviationPercent} %`],
    [
      "timeout to connect to a payee's server / for its whole response, seconds",
      `${Outbound.defaults.connectMillis / 1000} / ${Outbound.defaults.totalMillis / 1000}`
    ],
    ["body of its response, bytes", Outbound.defaults.maxBytes],
    ["redirects that are followed, at most", Outbound.defaults.maxRedirects],
    [
      "resolvers that a name is asked of (BIP 353), at most / timeout to connect to one / for its whole response, seconds",
      `${ValidatingResolver.maxResolvers} / ${ValidatingResolver.limits.connectMillis / 1000} / ${ValidatingResolver.limits.totalMillis / 1000}`
    ],
    [
      "bytes of a resolver's answer / records of it / aliases in a row",
      `${DnsMessage.maxBytes} / ${DnsMessage.maxRecords} / ${DnsMessage.maxAliases}`
    ],
    ["characters of a payee's success action", maxCharacters],
    ["time before its expiry at which an invoice is no longer paid, seconds", defaults.expiryMarginMillis / 1000],
    ["blocks for which a payee may hold a payment", defaults.maxFinalCltvExpiry],
    ["time for which an unreachable payee is retried, seconds", defaults.resolveForMillis / 1000],
    ["time until another process takes a killed process's leases, seconds, about", defaults.dutyLeaseMillis / 1000 + 1],
    [
      "ages at which an open invoice is polled, seconds",
      `${defaults.invoicePollMillis / 1000}, then twice as much each time, then every ${defaults.invoiceSweepMillis / 1000}; after its expiry less and less often`
    ],
    [
      "time until a held payment of a hold invoice is noticed, seconds, at most",
      `${LookUps.holds.leastMillis / 1000}, or of an older invoice a ${1 / LookUps.holds.ofAge}th of its age up to ${LookUps.holds.mostMillis / 1000}; at once where it is settled`
    ],
    ["hold invoices of a company that have not ended: requests at the same time may each find room", LookUps.holds.mostOpen],
    ["blocks before the end of its HTLCs at which a held payment is sent back", LookUps.holds.marginBlocks],
    ["time for which an expired invoice is still polled, hours", defaults.expiredGraceMillis / 3_600_000],
    ...features.flatMap(({ limits = [] }) => limits),
    ["time after which the page of a checkout looks again where no script runs, seconds", Document.refreshSeconds],
    ["Lightning payments handed to the node at once, by each process, by default", defaults.paymentsAtOnce],
    ["withdrawals inside the service that the process which confirmed them carries out at once; more are claimed", Handover.places],
    [
      "concurrent requests to payees' servers, of each process: in all / for one company / at one host",
      `${defaults.resolving.atOnce} / ${defaults.resolving.perCompany} / ${defaults.resolving.perHost}`
    ],
    ["API keys and addresses whose requests are counted, in each process: the quietest is forgotten first", `${maxNames}`],
    ["estimates that ask payees' servers, of each process: for one company", often(defaults.estimates.perCompany)],
    ["estimates that ask payees' servers, of each process: at one host, for all companies", often(defaults.estimates.perHost)],
    ["time for which an unreachable payee is retried before the withdrawal fails, minutes", defaults.resolveForMillis / 60_000],
    ["lifetime of an invoice requested by a wallet, seconds", defaults.lnurl.expirySeconds],
    ["characters of a payer's comment", defaults.lnurl.commentCharacters],
    ["bytes of payer data", defaults.lnurl.payerDataBytes],
    ["timeout of a wallet's request for an invoice, seconds", defaults.lnurl.timeoutMillis / 1000],
    ["time after its expiry until an unpaid invoice of a wallet is deleted, seconds", defaults.lnurl.forgetAfterMillis / 1000],
    ["characters of a success message", LightningAddress.maxSuccessMessageCharacters],
    ["Lightning addresses on a page", `1 to ${LightningAddresses.limit.maximum}, ${LightningAddresses.limit.default} by default`],
    ["interval between two checks of a domain's record, hours", defaults.domainCheckMillis / 3_600_000],
    ["grace period of a domain without its record, days", defaults.domainGraceMillis / 86_400_000],
    ["interval between two reconciliation runs, minutes", defaults.reconciliation.everyMillis / 60_000],
    ["age at which a discrepancy is reported, seconds", defaults.reconciliation.graceMillis / 1000],
    ["time for which a discrepancy of one payment is reported, days", defaults.reconciliation.forgetMillis / 86_400_000],
    ["lines of a node's statement, and events of ours, that one run reads", defaults.reconciliation.lines],
    ["open items of the reconciliation, at most", defaults.reconciliation.watched],
    ["discrepancies that are listed, at most", Reconciliation.maxShown],
    ["records that the backlog names, of each kind", maxNamed],
    ["interval between two checks of node, chain or store for `/readyz`, seconds", Readiness.lookMillis / 1000],
    ["timeout of such a check, seconds", Readiness.checkMillis / 1000],
    ["time after a refused commit until a check tries one, seconds", Commits.refusedMillis / 1000],
    ["time in which refusals of a key and code are one entry of the audit log, seconds", AuditLog.countedMillis / 1000],
    ["interval at which the head of the audit log is logged and sent, hours", AuditLog.headMillis / 3_600_000],
    ["webhooks that a process begins in a second, at most / where it has no time", `${Pace.perSecond.most} / ${Pace.perSecond.least}`],
    ["kinds of refusals that a process counts at once for the audit log", AuditLog.maxCounted],
    ["age at which an unclaimed job is overdue, seconds", defaults.reconciliation.overdueMillis / 1000],
    ["coins that are looked up on the chain in one reconciliation run", ChainBooks.askedAbout],
    ["sandbox: names with a TXT record, at most", PretendNames.maxNames],
    ["sandbox: stored events, at most; then nothing more happens outside", Sandbox.maxEvents],
    ["sandbox: time after its expiry until an unpaid invoice is forgotten, days", Lightning.keptDays],
    ["sandbox: longest fault, seconds", Faults.maxFaultSeconds],
    ["sandbox: how far the clock is advanced at once / in all, days", `${Time.maxAdvanceDays} / ${Time.maxAheadDays}`],
    ["sandbox: held payments, and transactions of the mempool, that /sandbox/world lists", Survey.listed],
    [
      "sandbox: inboxes for webhooks / requests that each keeps / characters of a body",
      `${Inbox.maxInboxes} / ${Inbox.maxKept} / ${Inbox.maxBodyCharacters}`
    ],
    ["sandbox: failures that an inbox is told at once / seconds", `${Inbox.maxFailures} / ${Inbox.maxFailingSeconds}`],
    ["fee reserve for routing", rate(defaults.routingAllowance)],
    ["fee reserve for mining", `the current fee rate × ${defaults.payoutVbytes} vB`],
    ...(["free", "paid"] as const).flatMap((plan) => [
      [`service fee over Lightning, ${plan}`, rate(defaults.fees[plan].lightning)] as const,
      [`service fee on-chain, ${plan}`, rate(defaults.fees[plan].onChain)] as const,
      [`service fee inside the service, ${plan}`, rate(defaults.fees[plan].internal)] as const
    ])
  ]
  const table = ["| what | number |", "|---|---|", ...rows.map(([what, value]) => `| ${what} | ${value} |`)]
  return ["# Limits and fees", "", ...table, "", ...pools(), ""].join("\n")
}

/** What is known against versions of nodes, a row each. */
const faults = (): string => {
  const row = ({ node, since, fixedIn, verdict, says, source }: Versions.Fault) => {
    const versions = `${since === undefined ? "" : `${Versions.written(since)} and later, `}before ${Versions.written(fixedIn)}`
    return `| ${node} | ${versions} | ${verdict} | ${says} | [${new URL(source).hostname}](${source}) |`
  }
  const intro =
    "Every start and `satrail check` compare the node's version with this list. `refused`: the start ends, with what to do, unless `LND_ACCEPT_VERSION` or `BITCOIN_ACCEPT_VERSION` is just this version. `warned`: a line in the log. A release candidate counts as its release, a fork of Bitcoin Core as the version that it says it is made from; a node that does not tell its version is not judged."
  return [
    "## Versions of nodes with known faults",
    "",
    intro,
    "",
    "| node | versions | at a start | what is known | source |",
    "|---|---|---|---|---|",
    ...Versions.faults.map(row)
  ].join("\n")
}

/** Every page, by its path in docs/reference. */
export const pages = (): Readonly<Record<string, string>> => ({
  "api.md": made + Reference.endpoints(Docs.documented(api)),
  "errors.md": made + Reference.errors(),
  "sandbox-errors.md": made + Recipes.page(),
  "limits.md": made + limits(),
  "metrics.md": made + metrics(),
  "defences.md": made + Defences.page(),
  "commands.md": made + Commands.page(Completions.fromCommand(satrail)),
  "configuration.md": `${made}# Configuration\n\nThe server reads its environment. An invalid value stops the start, which reports every problem; so does a variable that looks like one of these and is none. \`satrail check\` checks what they name.\n\n${Environment.documentation()}\n\n${faults()}\n`
})

/** The types of the API, for the console: by its path in the repository. */
export const wire = { file: path.resolve(import.meta.dirname, "../packages/ui/browser/console/wire.ts"), text: Wire.text }

export const directory = path.resolve(import.meta.dirname, "../docs/reference")

if (import.meta.main) {
  for (const [name, text] of Object.entries(pages())) writeFileSync(path.join(directory, name), text)
  writeFileSync(wire.file, wire.text())
  for (const [name, text] of Object.entries(Pictures.pictures())) writeFileSync(path.join(Pictures.directory, name), text)
}
