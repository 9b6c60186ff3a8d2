// Draws the parts of the service as an SVG: its callers, the core, and the systems reached through ports.
import { frame, make, type Palette } from "./Drawing.ts"

const size = { width: 920, height: 440 }
const about =
  "Callers over HTTP or in process; a core that decides, commits and then acts; a ledger; and adapters for storage, Lightning, chain and web"

export const draw = (palette: Palette): string => {
  const { line, core, accent } = palette
  const { card, arrow, both, label, area } = make(palette)
  const step = (x: number, title: string, ...lines: ReadonlyArray<string>) =>
    `<rect x="${x}" y="96" width="120" height="92" rx="6" fill="none" stroke="${accent}"/><text class="title" x="${x + 60}" y="120" text-anchor="middle">${title}</text>${lines
      .map(
        (words, i) =>
          `<text class="faint" x="${x + 60}" y="${142 + i * 17}" text-anchor="middle">${words}</text>`
      )
      .join("")}`
  const content = `${label(20, 36, "callers")}
${card(20, 52, 190, "Any language", "HTTP /v1, OpenAPI,", "idempotency keys")}
${card(20, 152, 190, "Your Node program", "the same services,", "as promises or effects")}
${card(20, 252, 190, "Payers' wallets", "checkout, Lightning", "addresses, vouchers")}
${card(20, 352, 190, "The operator", "companies, keys, metrics,", "satrail check")}
${[86, 186, 286, 386].map((y) => arrow(`M210 ${y}H252`)).join("")}
${area(260, 52, 422, 368, core)}
${label(274, 80, "core: no I/O, no HTTP, no SQL")}
${step(276, "decide", "in pure code:", "a refusal, or", "one Change")}
${step(411, "commit", "rows, postings,", "job and event:", "all or nothing")}
${step(546, "then act", "the node is called", "after the commit,", "or after a crash")}
${[397, 532].map((x) => `<path d="M${x} 142h6" stroke="${line}" marker-end="url(#to)"/>`).join("")}
${card(276, 206, 390, "Double-entry ledger of every account", "a hold before money leaves, a credit when it arrives;", "each booking statement rejects a balance below zero")}
${card(276, 292, 390, "Unknown is not failed", "settled, failed, pending or unknown: a hold is released", "only when the node reports that the payment failed;", "reconciliation compares the ledger with its statements")}
${label(900, 36, "called through ports, each with contract tests", "end")}
${card(732, 52, 168, "Storage", "PostgreSQL, or one", "in the same process")}
${card(732, 152, 168, "Lightning", "lnd, LDK,", "or your adapter")}
${card(732, 252, 168, "Chain", "bitcoin node, Esplora,", "built-in wallet")}
${card(732, 352, 168, "The web", "payees, DNS, rates,", "through one guard")}
${[86, 186, 286, 386].map((y) => both(`M688 ${y}H726`)).join("")}`
  return frame(palette, size, about, content)
}
