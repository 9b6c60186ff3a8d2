// Generates the pages of docs/reference and the pictures of docs/assets from their sources: npm run docs
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
import * as RunOnce from "../packages/core/src/ledger/RunOnce.ts"
import * as SecondOperator from "../packages/core/src/accounts/SecondOperator.ts"
import * as WalletNotices from "../packages/features/src/wallet-connect/core/WalletNotices.ts"
import * as WalletPayments from "../packages/features/src/wallet-connect/core/WalletPayments.ts"
import * as WalletRequests from "../packages/features/src/wallet-connect/core/WalletRequests.ts"
import * as WalletView from "../packages/features/src/wallet-connect/core/WalletView.ts"
import * as WalletService from "../packages/features/src/wallet-connect/core/WalletService.ts"
import * as Domains from "../packages/core/src/accounts/Domains.ts"
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
import { attemptMillis } from "../packages/core/src/nodes/Poster.ts"
import { maxCharacters } from "../packages/core/src/nodes/SuccessAction.ts"
import { defaults } from "../packages/core/src/service/Policy.ts"
import { maxNamed } from "../packages/core/src/reports/reconciliation/Backlog.ts"
import { feeRateBlocks } from "../packages/core/src/receiving/FeeRates.ts"
import * as Invoice from "../packages/core/src/receiving/Invoice.ts"
import * as LightningAddress from "../packages/core/src/receiving/LightningAddress.ts"
import * as LnurlOptions from "../packages/core/src/receiving/LnurlOptions.ts"
import * as Domain from "../packages/core/src/accounts/Domain.ts"
import * as Fees from "../packages/core/src/accounts/Fees.ts"
import * as Prices from "../packages/core/src/nodes/Prices.ts"
import * as PaymentOptions from "../packages/core/src/sending/PaymentOptions.ts"
import * as ReconciliationOptions from "../packages/core/src/reports/reconciliation/ReconciliationOptions.ts"
import * as LookupSchedule from "../packages/core/src/receiving/LookupSchedule.ts"
import * as AuditLog from "../packages/features/src/audit/core/AuditLog.ts"
import * as Webhooks from "../packages/features/src/webhooks/core/Webhooks.ts"
import * as Verify from "../packages/service/src/http/events/Webhooks.ts"
import * as WebhookTest from "../packages/features/src/webhooks/http/WebhookTest.ts"
import { maxPreviousSecrets } from "../packages/features/src/webhooks/core/records/Endpoint.ts"
import * as Statement from "../packages/features/src/statements/core/Statement.ts"
import * as Destination from "../packages/core/src/sending/Destination.ts"
import * as LostPayout from "../packages/core/src/sending/LostPayout.ts"
import * as LostWithdrawal from "../packages/core/src/sending/LostWithdrawal.ts"
import * as Handover from "../packages/core/src/sending/Handover.ts"
import * as Unreachable from "../packages/core/src/sending/Unreachable.ts"
import * as Broadcasts from "../packages/core/src/sending/Broadcasts.ts"
import * as Payout from "../packages/core/src/sending/Payout.ts"
import { all as features } from "../packages/service/src/features/core.ts"
import * as Document from "../packages/ui/src/checkout/Document.ts"
import * as CheckoutPage from "../packages/features/src/checkouts/http/CheckoutPage.ts"
import * as Decoding from "../packages/http/src/wire/Decoding.ts"
import * as Docs from "../packages/service/src/http/pages/Docs.ts"
import * as Errors from "../packages/http/src/wire/Errors.ts"
import * as EventStream from "../packages/service/src/http/events/EventStream.ts"
import * as EventFilters from "../packages/http/src/wire/EventFilters.ts"
import * as Edge from "../packages/http/src/edge/Edge.ts"
import * as Events from "../packages/http/src/wire/Events.ts"
import * as PasskeySession from "../packages/features/src/people/http/PasskeySession.ts"
import * as ConsoleSession from "../packages/features/src/people/http/ConsoleSession.ts"
import * as Lanes from "../packages/http/src/edge/Lanes.ts"
import * as RequestRates from "../packages/http/src/edge/RequestRates.ts"
import * as Extension from "../packages/http/src/edge/Extension.ts"
import * as SignInLinks from "../packages/http/src/api/SignInLinks.ts"
import * as Readiness from "../packages/http/src/api/Readiness.ts"
import * as Reconciliation from "../packages/http/src/resources/Reconciliation.ts"
import * as Reference from "./reference/Api.ts"
import * as Sheet from "../packages/http/src/wire/Sheet.ts"
import * as Commits from "../packages/postgres/src/journal/Commits.ts"
import * as Faults from "../packages/sandbox/src/Faults.ts"
import * as Inbox from "../packages/sandbox/src/Inbox.ts"
import * as Lightning from "../packages/sandbox/src/Lightning.ts"
import * as SimulatedDns from "../packages/sandbox/src/SimulatedDns.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"
import * as Survey from "../packages/sandbox/src/Survey.ts"
import * as Time from "../packages/sandbox/src/Time.ts"
import { satrail } from "../packages/server/src/commands/Commands.ts"
import * as Commands from "./reference/Commands.ts"
import * as Destinations from "./reference/Destinations.ts"
import * as Environment from "../packages/server/src/deployment/Environment.ts"
import * as Starting from "../packages/postgres/src/client/Starting.ts"
import * as Listener from "../packages/server/src/serving/Listener.ts"
import { smallParts } from "../packages/server/src/serving/SmallParts.ts"
import * as Pipelining from "../packages/server/src/serving/Pipelining.ts"
import { api } from "../packages/server/src/serving/Server.ts"
import * as Stalled from "../packages/server/src/serving/Stalled.ts"
import * as ClientTypes from "./client.ts"
import * as Wire from "./wire.ts"
import * as DnsMessage from "../packages/web/src/DnsMessage.ts"
import * as ValidatingResolver from "../packages/web/src/ValidatingResolver.ts"
import * as Reads from "../packages/postgres/src/statements/Reads.ts"
import * as RelaySocket from "../packages/web/src/RelaySocket.ts"
import * as WebSocketRelays from "../packages/web/src/WebSocketRelays.ts"
import * as Lnurl from "../packages/web/src/Lnurl.ts"
import * as NameServers from "../packages/web/src/NameServers.ts"
import * as Outbound from "../packages/web/src/Outbound.ts"
import * as Pace from "../packages/web/src/Pace.ts"
import * as Rates from "../packages/web/src/Rates.ts"
import * as WebSocketSessions from "../packages/web/src/WebSocketSessions.ts"
import * as WebhookPoster from "../packages/web/src/WebhookPoster.ts"
import * as Recipes from "../packages/server/test/refusals/Recipes.ts"
import * as Defences from "../test/defences/Page.ts"
import * as Pictures from "./pictures/Pictures.ts"

const made = "<!-- Generated from the code by `npm run docs`. Do not edit. -->\n"

const sats = (amount: Msat.Msat): string => `${Msat.toSats(amount)} sats`
const rate = ({
  base,
  partsPerMillion
}: {
  readonly base: Msat.Msat
  readonly partsPerMillion: bigint
}): string => `${sats(base)} + ${Number(partsPerMillion) / 10_000} %`

const often = ({ count, everyMillis }: Rate): string =>
  `a burst of ${count}, then one every ${everyMillis / 1000} s, by default`

const metrics = (): string => {
  const rows = Measure.all().map(
    ({ name, type, labels, description }) =>
      `| \`${name}\` | ${type} | ${labels.join(", ")} | ${description} |`
  )
  const head = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
  const about =
    "For operators who monitor the service: what each metric measures. `GET /operator/metrics` returns the metrics in Prometheus's text format and requires the operator's token. " +
    "Each process counts from its own start; metrics of the store (backlog, books) are the same in all processes. A histogram is exported as `_bucket`, `_sum` and `_count`. No label names a company. " +
    "[Alarms](../../deploy/prometheus/rules.yaml) and a [dashboard](../../deploy/grafana/satrail.json) use these metrics ([what to do](../guides/monitor.md))."
  return ["# Metrics", about, [...head, ...rows].join("\n")].join("\n\n") + "\n"
}

/** The network sizes with these shares, narrowest first. An example of a title is `/32, /64`. */
const networksOf = (families: ReadonlyArray<{ readonly bits: number; readonly times: number }>) =>
  [...new Set(families.map(({ times }) => times))]
    .toSorted((one, other) => one - other)
    .map((times) => ({
      times,
      title: families
        .filter((one) => one.times === times)
        .map(({ bits }) => `/${bits}`)
        .join(", ")
    }))
const networks = networksOf(Object.values(Caller.widths).flat())
const newcomers = networksOf(Object.values(Caller.providers).flat()).map(
  ({ times, title }) => `${times} per minute from one ${title}`
)

/** The tables of the pools that callers without a key can fill, and of each caller's share. */
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
    "## Pools shared by callers without a key",
    "",
    "Each process counts separately. A caller is an IPv4 address or an IPv6 /64. Its requests also count toward each larger network that contains it, whose share is four times that of the next narrower one.",
    "",
    "### Slots",
    "",
    "When a share is full, no request is refused. Instead, the largest holder of that share loses its oldest slot. To find that holder, the service takes the /24 (IPv6) or /8 (IPv4) network with the most slots, then the network within it with the most, and so on down to one caller. These widest networks have no share of their own. If no /24 or /48 holds more than one slot, the company with the most slots loses one. An unpaid invoice that loses its slot is canceled at the node; if it was paid just before, the payment is credited. A checkout page that loses its stream connects again. A network never has more than half of all slots.",
    "",
    `| pool | slots | one company; smaller shares | ${networks.map(({ title }) => title).join(" | ")} |`,
    `|---|---|---|${networks.map(() => "---").join("|")}|`,
    places("unpaid invoices for wallets (LNURL and `/pay/to`)", callbacks),
    places("streams to checkout pages", CheckoutPage.streams),
    places("connections, without a proxy in front (`SATRAIL_PROXIES=0`)", {
      ...Listener.sharesOf(4096),
      per: {}
    }),
    `| stored responses of Nostr Wallet Connect (an app counts as a caller) | ${WalletRequests.kept.most} | – | ${WalletRequests.kept.perCaller} | – | – |`,
    "",
    "### Requests per minute",
    "",
    `A shared rate is first come, first served. Once it is used up, only networks (/24 or /48) that sent no request in the last minute are served, up to ${Throttle.reserve.times} times the shared rate, and at most ${newcomers.join(", ")}.`,
    "",
    `| requests | shared by all | ${networks.map(({ title }) => title).join(" | ")} |`,
    `|---|---|${networks.map(() => "---").join("|")}|`,
    requests(
      "invoices for wallets",
      lnurl.perCaller,
      `${often(lnurl.perAddress, 1)} at one Lightning address`
    ),
    requests("claims of vouchers", lnurl.perCaller, "–"),
    requests(
      "sign-ins and step-ups in the console with an invalid key",
      perMinute(ConsoleSession.attemptsPerMinute),
      "–"
    ),
    requests("passkey requests in the console", perMinute(PasskeySession.attemptsPerMinute), "–"),
    requests(
      "requests without a valid key: `/v1` and `/operator` with a wrong key, `/pay` and the paths below it, LNURL for addresses and vouchers, `/console/session`, `/tls/ask` from another machine",
      perMinute(RequestRates.perStranger),
      "–"
    ),
    "",
    "Vouchers have no shared pool, because only a company's key can create one, each accepts one claim at a time, and an unknown `k1` creates nothing.",
    "",
    "`/tls/ask` is not limited for a proxy on the same machine, because it asks for all callers.",
    "",
    "Nostr Wallet Connect has no caller addresses. Its limits above apply to each app and each relay."
  ]
}

const limits = (): string => {
  const stalled = [1, 2].map((checks) => (checks * Stalled.stalledMillis) / 1000).join(" to ")
  const rows: ReadonlyArray<readonly [what: string, value: string | number]> = [
    ["request body, bytes", Edge.maxBodyBytes],
    [
      "requests / bytes of their bodies that a process starts per event-loop turn",
      `${Listener.turnRequests} / ${Listener.turnBytes}`
    ],
    ["pipelined requests that wait in a process", Pipelining.maxWaiting],
    ["time limit of a request, seconds", Edge.timeoutMillis / 1000],
    [
      "time that the service and `satrail migrate` wait at startup for a database that is not running yet, seconds",
      Starting.limitSeconds.total
    ],
    [
      "sign-ins and step-ups with one key (invalid keys: from one address) per minute and process",
      ConsoleSession.attemptsPerMinute
    ],
    ["lifetime of a printed sign-in link, minutes (it can be used once)", SignInLinks.lifeMillis / 60_000],
    [
      "concurrent requests per company and process, if other companies were active in the last second",
      Lanes.width
    ],
    [
      "concurrent requests per company and process, if other companies were active in the last minute",
      Lanes.wideWidth
    ],
    ["maximum wait of requests above these numbers, seconds", Lanes.maxWaitMillis / 1000],
    [
      "maximum requests of a key in one second, as a fraction of its requests per minute",
      `1/${RequestRates.burstPart}, at least ${RequestRates.least}`
    ],
    [
      "requests of a key processed without delay, as a fraction of its requests per minute",
      `1/${RequestRates.promptPart}, at least ${RequestRates.least}`
    ],
    ["rejections sent without delay, per key and second", 1000 / RequestRates.promptRefusals.everyMillis],
    ["rejections delayed at the same time, in total", RequestRates.maxLate],
    [
      "delay of a rejection, seconds",
      `${RequestRates.lateMillis / 1000} to ${(RequestRates.lateMillis + RequestRates.maxLate * RequestRates.apartMillis) / 1000}`
    ],
    ["open streams of one extension in one process, by default", Extension.maxStreams],
    ["duration of a stream, minutes, by default", Extension.maxStreamMillis / 60_000],
    ["time to read the rest of a stream that has ended, seconds", Extension.partingMillis / 1000],
    [
      "concurrent statements and export balances / with charts and searches, per process; 1 of each kind per company",
      `${Reads.heavy.recounts} / ${Reads.heavy.most}`
    ],
    [
      "concurrent downloads of exports and audit logs per process: for each company or operator (1 if half are taken) / in total",
      `${Sheet.maxTables.each} / ${Sheet.maxTables.all}`
    ],
    ["time after a month's end until its statement is final, minutes", Statement.settlingMillis / 60_000],
    [
      "open event streams in each process: of a key / of a company / in total",
      `${EventStream.streamsPerKey} / ${EventStream.streamsPerCompany} / ${EventStream.maxStreams}`
    ],
    [
      "concurrent webhook tests, per process / company",
      `${WebhookTest.tests.most} / ${WebhookTest.tests.each}`
    ],
    ["webhook endpoints of a company", Webhooks.maxEndpoints],
    ["earlier secrets of a webhook endpoint that sign until a rotation's overlap ends", maxPreviousSecrets],
    [
      "webhook that `verify` accepts: signatures / length of the `webhook-` headers together, characters / body, bytes",
      `${Verify.maxSignatures} / ${Verify.maxHeaders} / ${Verify.maxBodyBytes}`
    ],
    ["time for a webhook's receiver to respond, seconds", attemptMillis / 1000],
    ["interval between keep-alive comments in an idle event stream, seconds", Events.heartbeatMillis / 1000],
    ["smallest invoice or withdrawal", sats(defaults.minAmount)],
    ["largest invoice, by default", sats(defaults.maxInvoice)],
    ["largest withdrawal, by default", sats(defaults.maxWithdrawal)],
    ["recipients that the limits of a key or company can list", Limits.maxRecipients],
    ["allowed IP addresses and ranges of a key", AllowedFrom.maxRanges],
    ["time for a second operator to confirm a request, hours", SecondOperator.waitMillis / 3_600_000],
    ["active API keys of a company that creates its own keys", OwnKeys.maxOpen],
    ["domains that a company can verify itself", Domains.maxDomains],
    [
      "custom fees of a company: largest fixed part / share of the amount, parts per million",
      `${CompanyFees.maxBaseSats} sats / ${CompanyFees.maxPartsPerMillion}`
    ],
    [
      "step of a spending limit's sliding window, minutes",
      Object.entries(Limit.windows)
        .map(([name, { stepMillis }]) => `${name}: ${stepMillis / 60_000}`)
        .join(", ")
    ],
    ["result that `pay.once` stores, bytes of JSON", RunOnce.maxResultBytes],
    ["largest amount (all bitcoin)", sats(Msat.max)],
    ...BitcoinAddress.Kind.literals.map(
      (kind) =>
        [`smallest on-chain payment to ${kind}`, `${BitcoinAddress.dustLimitSats(kind)} sats`] as const
    ),
    [
      "invoice lifetime, seconds",
      `${Invoice.expirySeconds.minimum} to ${Invoice.expirySeconds.maximum}, ${Invoice.expirySeconds.default} by default`
    ],
    [
      "invoice description, bytes of UTF-8 (wallets with LDK 0.1.0 or 0.1.1 cannot read more than 476)",
      Bolt11.maxDescriptionBytes
    ],
    [
      "values in a request body (fields and array items, at any depth) / query parameters",
      `${Decoding.most.values} / ${Decoding.most.parameters}`
    ],
    [
      "issues in an error / length of each, characters",
      `${Errors.reported.issues} / ${Errors.reported.messageCharacters}`
    ],
    ["event types that a webhook endpoint or a query can name", EventFilters.maxFilters],
    ["metadata keys", Metadata.limits.keys],
    [
      "length of a metadata key / value, characters",
      `${Metadata.limits.keyCharacters} / ${Metadata.limits.valueCharacters}`
    ],
    ["length of a destination, characters", Destination.maxLength],
    ["length of a BOLT 12 offer, characters, with `+` and spaces", Bolt12.maxLength],
    ["length of a Lightning address's handle, characters", LightningAddressText.maxHandleLength],
    ["length of a name, characters", Companies.maxNameCharacters],
    ["longest overlap of a rotated API key with its successor, seconds", ApiKeys.maxOverlapSeconds],
    [
      "Nostr Wallet Connect, for each app: requests per minute / concurrent requests / maximum age of a request, seconds",
      `${WalletRequests.perConnection.count} / ${WalletRequests.atOnce} / ${WalletRequests.maxAgeSeconds}`
    ],
    [
      "Nostr Wallet Connect, for each relay: concurrent requests, except those that wait for a payment / queued requests / message size, bytes / other messages in 30 seconds",
      `${WalletService.atOnce} / ${WebSocketSessions.maxWaiting} / ${WebSocketSessions.maxBytes} / ${WebSocketSessions.maxOthers}`
    ],
    [
      "Nostr Wallet Connect: signatures verified per app and relay / concurrent lookups of unknown apps, per relay",
      `${WalletRequests.verified.count}, then one every ${WalletRequests.verified.everyMillis / 1000} s / ${WalletRequests.lookups.each}`
    ],
    [
      "Nostr Wallet Connect: payments in a response, bytes (larger ones lose their metadata)",
      WalletView.maxBytes
    ],
    [
      "time after which an app's payment request returns without a result, seconds",
      WalletPayments.payWaitMillis / 1000
    ],
    ["apps per company that receive payment notifications", WalletNotices.maxApps],
    ["records or events on a page of a list", `1 to ${Page.limit.maximum}, ${Page.limit.default} by default`],
    ["text on such a page, characters (the page ends with the record that reaches this)", Page.maxCharacters],
    [
      "concurrent lists of invoices or checkouts, per process / company",
      `${Page.pagesAtOnce.most} / ${Page.pagesAtOnce.each}`
    ],
    [`rows read to find ${Page.atOnce} records of a filtered list`, Page.looks],
    ["API keys counted in the operator's overview of a company", maxCounted],
    ["length of an Idempotency-Key, characters", "1 to 255, visible ASCII"],
    ["time for the headers of a request to arrive, seconds", Listener.headersMillis / 1000],
    ["time until a client that reads nothing of a response is disconnected, seconds", stalled],
    ["headers of a request / their total size, bytes", `${Listener.maxHeaders} / ${maxHeaderSize}`],
    [
      "small chunks of a request's body / mean size of further ones, bytes",
      Object.values(smallParts).join(" / ")
    ],
    [
      "confirmations of a deposit, by the larger of the company's pending total and the block's total",
      defaults.confirmations
        .map(({ confirmations, upTo }) => `${confirmations} up to ${sats(upTo)}`)
        .join(", ")
    ],
    [
      "smallest on-chain deposit that is credited",
      `${sats(defaults.minDeposit)}, or the cost of spending it at the lowest fee rate of the last ${feeRateBlocks.most} blocks, if that is more`
    ],
    ["minimum confirmations of a coinbase deposit", ChainSource.coinbaseMaturity],
    ["confirmations required for a payout", defaults.payoutConfirmations],
    ["confirmations required for a replaced payout", defaults.replacedConfirmations],
    ["time until an unmined payout is replaced, minutes", defaults.replacement.afterMillis / 60_000],
    [
      "fee rate of a payout that costs more than its fee reserve, sats per virtual byte",
      Payout.minimumFeeRate
    ],
    [
      "highest fee of a replacement, as a multiple of the fee reserve, or of the fee at that rate",
      defaults.replacement.allowances
    ],
    ["depth at which a payout is final, blocks", defaults.payoutBuriedAt],
    ["inputs of one payout", Payout.maxCoins],
    ["payouts in one batch", defaults.payoutOutputs],
    ["time limit of a payout's signature, minutes", Broadcasts.signMillis / 60_000],
    ["maximum age of an exchange rate, seconds", Prices.maxRateAgeMillis / 1000],
    ["interval between requests to a rate source, seconds", Rates.refreshMillis / 1000],
    ["minimum number of sources that must agree on a rate (and a majority)", Rates.rules.minAgreeing],
    ["largest deviation of a rate source from the median", `${Rates.rules.maxDeviationPercent} %`],
    [
      "timeout to connect to a payee's server / for its whole response, seconds",
      `${Outbound.defaults.connectMillis / 1000} / ${Outbound.defaults.totalMillis / 1000}`
    ],
    [
      "size of a payee's response body, bytes / its chunks / its values",
      `${Outbound.defaults.maxBytes} / ${Outbound.maxParts} / ${Lnurl.maxValues}`
    ],
    [
      "redirects followed / addresses used of a host, per IP version",
      `${Outbound.defaults.maxRedirects} / ${NameServers.maxPerFamily}`
    ],
    [
      "resolvers queried for a name (BIP 353) / timeout to connect to one / for its whole response, seconds",
      `${ValidatingResolver.maxResolvers} / ${ValidatingResolver.limits.connectMillis / 1000} / ${ValidatingResolver.limits.totalMillis / 1000}`
    ],
    [
      "DNS response: bytes / records / consecutive aliases",
      `${DnsMessage.maxBytes} / ${DnsMessage.maxRecords} / ${DnsMessage.maxAliases}`
    ],
    [
      "messages of a relay before its verdict / fragments or chunks of a message",
      `${WebSocketRelays.maxOthers} / ${RelaySocket.maxParts}`
    ],
    ["length of a payee's success action, characters", maxCharacters],
    [
      "minimum remaining lifetime of an invoice to be paid, seconds",
      PaymentOptions.expiryMarginMillis / 1000
    ],
    ["blocks for which a payee may hold a payment", defaults.maxFinalCltvExpiry],
    [
      "days after an invoice expires until a lost payment can be released",
      LostWithdrawal.claimableMillis / 86_400_000
    ],
    ["confirmations until another wallet's transaction releases a payout", LostPayout.finalConfirmations],
    [
      "approximate time until another process takes over the leases of a killed process, seconds",
      defaults.dutyLeaseMillis / 1000 + 1
    ],
    [
      "ages at which an open invoice is polled, seconds",
      `${defaults.invoicePollMillis / 1000}, doubling each time, then every ${defaults.invoiceSweepMillis / 1000}; less often after it expires`
    ],
    [
      "maximum time until a held payment is detected, seconds",
      `${LookupSchedule.holdInvoices.leastMillis / 1000}, or a ${1 / LookupSchedule.holdInvoices.ofAge}th of the invoice's age if that is longer, up to ${LookupSchedule.holdInvoices.mostMillis / 1000}; immediately when you settle it`
    ],
    [
      "open hold invoices of a company (simultaneous requests can exceed this)",
      LookupSchedule.holdInvoices.mostOpen
    ],
    [
      "a held payment is returned when its HTLCs expire within this number of blocks",
      LookupSchedule.holdInvoices.marginBlocks
    ],
    ["time for which an expired invoice is still polled, hours", defaults.expiredGraceMillis / 3_600_000],
    ...features.flatMap(({ limits = [] }) => limits),
    ["time after which a checkout page without JavaScript reloads itself, seconds", Document.refreshSeconds],
    ["concurrent Lightning payments sent to the node by each process, by default", defaults.paymentsAtOnce],
    ["internal withdrawals that a process completes immediately after confirming them", Handover.places],
    [
      "concurrent requests to payees' servers per process, separately for payments and API requests: total / per company / per host (payments only)",
      `${defaults.resolving.atOnce} / ${defaults.resolving.perCompany} / ${defaults.resolving.perHost}`
    ],
    [
      "API keys and addresses whose requests each process counts (the least recently used is evicted first)",
      `${maxNames}`
    ],
    [
      "estimates for destinations on other servers, per company and process",
      often(defaults.estimates.perCompany)
    ],
    ["estimates for destinations on other servers, per host and process", often(defaults.estimates.perHost)],
    [
      "time for which each process retries an unreachable payee, minutes",
      PaymentOptions.resolveForMillis / 60_000
    ],
    ["unreachable payees that each process remembers", Unreachable.mostKept],
    ["lifetime of an invoice requested by a wallet, seconds", defaults.lnurl.expirySeconds],
    ["length of a payer's comment, characters", LnurlOptions.commentCharacters],
    ["size of payer data, bytes", LnurlOptions.payerDataBytes],
    ["timeout of a wallet's request for an invoice, seconds", defaults.lnurl.timeoutMillis / 1000],
    [
      "time until an expired unpaid invoice of a wallet is deleted, seconds",
      LnurlOptions.forgetAfterMillis / 1000
    ],
    ["length of a success message, characters", LightningAddress.maxSuccessMessageCharacters],
    ["interval between two checks of a domain's record, hours", Domain.checkMillis / 3_600_000],
    ["grace period of a domain whose record is missing, days", Domain.graceMillis / 86_400_000],
    ["interval between two reconciliation runs, minutes", defaults.reconciliation.everyMillis / 60_000],
    ["age at which a discrepancy is reported, seconds", defaults.reconciliation.graceMillis / 1000],
    [
      "time for which a discrepancy of one payment is reported, days",
      defaults.reconciliation.forgetMillis / 86_400_000
    ],
    [
      "entries of a node's payment history, and events, that one reconciliation run reads",
      defaults.reconciliation.lines
    ],
    ["maximum number of open items of the reconciliation", defaults.reconciliation.watched],
    ["discrepancies listed", Reconciliation.maxShown],
    ["records of each kind listed in the backlog", maxNamed],
    [
      "interval between two checks of node, chain or store for `/readyz`, seconds",
      Readiness.lookMillis / 1000
    ],
    ["timeout of such a check, seconds", Readiness.checkMillis / 1000],
    [
      "time from a failed commit until the store check tries another commit, seconds",
      Commits.refusedMillis / 1000
    ],
    [
      "period during which rejections with the same key and error code share one audit log entry, seconds",
      AuditLog.countedMillis / 1000
    ],
    [
      "interval at which the head of the audit log is logged and sent, hours",
      AuditLog.headMillis / 3_600_000
    ],
    [
      "webhook deliveries per second and process: maximum / under full load",
      `${Pace.perSecond.most} / ${Pace.perSecond.least}`
    ],
    [
      "concurrent webhook deliveries to one host per process: total / per company",
      `${WebhookPoster.requestsPerHost.most} / ${WebhookPoster.requestsPerHost.each}`
    ],
    ["different rejections that each process counts for the audit log, at most", AuditLog.maxCounted],
    ["age at which an unclaimed job is overdue, seconds", ReconciliationOptions.overdueMillis / 1000],
    ["coins checked on the chain in one reconciliation run", ChainBooks.askedAbout],
    ["sandbox: maximum number of names with a TXT record", SimulatedDns.maxNames],
    ["sandbox: stored events (after that, the simulated world stops)", Sandbox.maxEvents],
    ["sandbox: time until an expired unpaid invoice is deleted, days", Lightning.keptDays],
    ["sandbox: longest fault, seconds", Faults.maxFaultSeconds],
    ["sandbox: clock advance per request / in total, days", `${Time.maxAdvanceDays} / ${Time.maxAheadDays}`],
    ["sandbox: held payments and mempool transactions listed by `/sandbox/world`", Survey.listed],
    [
      "sandbox: webhook inboxes / requests stored in each / length of a body, characters",
      `${Inbox.maxInboxes} / ${Inbox.maxKept} / ${Inbox.maxBodyCharacters}`
    ],
    [
      "sandbox: failures that can be queued for an inbox / how long an inbox can fail, seconds",
      `${Inbox.maxFailures} / ${Inbox.maxFailingSeconds}`
    ],
    ["fee reserve for routing", rate(Fees.routingAllowance)],
    ["fee reserve for mining", `the current fee rate × ${Fees.payoutVbytes} vB`],
    ...(["free", "paid"] as const).flatMap((plan) => [
      [`Lightning service fee, \`${plan}\` plan`, rate(defaults.fees[plan].lightning)] as const,
      [`on-chain service fee, \`${plan}\` plan`, rate(defaults.fees[plan].onChain)] as const,
      [`service fee for internal payments, \`${plan}\` plan`, rate(defaults.fees[plan].internal)] as const
    ])
  ]
  const table = ["| what | number |", "|---|---|", ...rows.map(([what, value]) => `| ${what} | ${value} |`)]
  return [
    "# Limits and fees",
    "",
    "For API developers and operators: every limit and default fee.",
    "",
    ...table,
    "",
    ...pools(),
    ""
  ].join("\n")
}

/** Returns a table of the known bugs in node versions. */
const faults = (): string => {
  const row = ({ node, since, fixedIn, verdict, says, source }: Versions.Fault) => {
    const versions = `${since === undefined ? "" : `${Versions.written(since)} and later, `}before ${Versions.written(fixedIn)}`
    return `| ${node} | ${versions} | ${verdict} | ${says} | [${new URL(source).hostname}](${source}) |`
  }
  const intro =
    "At startup, and in `satrail check`, the node's version is compared with this list. `refused`: the service doesn't start and prints the remedy, unless `LND_ACCEPT_VERSION` or `BITCOIN_ACCEPT_VERSION` is exactly this version. `warned`: the log has a warning. A release candidate counts as its release, and a fork of Bitcoin Core counts as the version it reports. A node that reports no version is not checked."
  return [
    "## Node versions with known bugs",
    "",
    intro,
    "",
    "| node | versions | at startup | bug | source |",
    "|---|---|---|---|---|",
    ...Versions.faults.map(row)
  ].join("\n")
}

/** Returns every page by its path in docs/reference. */
export const pages = (): Readonly<Record<string, string>> => ({
  "api.md": made + Reference.endpoints(Docs.documented(api)),
  "errors.md": made + Reference.errors(),
  "sandbox-errors.md": made + Recipes.page(),
  "destinations.md": made + Destinations.page(),
  "limits.md": made + limits(),
  "metrics.md": made + metrics(),
  "defences.md": made + Defences.page(),
  "commands.md": made + Commands.page(Completions.fromCommand(satrail)),
  "configuration.md": `${made}# Configuration\n\nFor operators: every setting with its default and format. The server reads these environment variables. If one is invalid or misspelled, the server reports every problem and does not start. \`satrail check\` also tests the systems that the settings name.\n\n${Environment.documentation()}\n\n${faults()}\n`
})

/** The console's API types, and the path of their file in the repository. */
export const wire = {
  file: path.resolve(import.meta.dirname, "../packages/ui/src/console/wire.ts"),
  text: Wire.text
}

/** The generated files of `@satrail/client`. */
export const client = ClientTypes.files

export const directory = path.resolve(import.meta.dirname, "../docs/reference")

if (import.meta.main) {
  for (const [name, text] of Object.entries(pages())) writeFileSync(path.join(directory, name), text)
  writeFileSync(wire.file, wire.text())
  for (const { file, text } of client()) writeFileSync(file, text)
  for (const [name, text] of Object.entries(Pictures.pictures()))
    writeFileSync(path.join(Pictures.directory, name), text)
}
