// What the service is made of, as one SVG: who calls, the core, and what it reaches through ports.

interface Palette {
  readonly text: string
  readonly faint: string
  readonly line: string
  readonly box: string
  readonly core: string
  readonly accent: string
}

export const palettes = {
  light: { text: "#1f2328", faint: "#59636e", line: "#8c959f", box: "#f6f8fa", core: "#fff8f0", accent: "#c25b00" },
  dark: { text: "#e6edf3", faint: "#9198a1", line: "#656c76", box: "#161b22", core: "#1f1a12", accent: "#f7931a" }
} as const satisfies Record<string, Palette>

const size = { width: 920, height: 440 }

export const draw = ({ text, faint, line, box, core, accent }: Palette): string => {
  const card = (x: number, y: number, width: number, title: string, ...lines: ReadonlyArray<string>) => {
    const height = 34 + lines.length * 17
    const words = lines.map((words, i) => `<text class="faint" x="${x + 14}" y="${y + 41 + i * 17}">${words}</text>`).join("")
    return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${box}" stroke="${line}"/><text class="title" x="${x + 14}" y="${y + 23}">${title}</text>${words}`
  }
  const arrow = (fromX: number, toX: number, y: number) => `<path d="M${fromX} ${y}H${toX - 6}" stroke="${line}" marker-end="url(#to)"/>`
  const both = (fromX: number, toX: number, y: number) =>
    `<path d="M${fromX + 6} ${y}H${toX - 6}" stroke="${line}" marker-start="url(#from)" marker-end="url(#to)"/>`
  const step = (x: number, title: string, ...lines: ReadonlyArray<string>) =>
    `<rect x="${x}" y="96" width="120" height="92" rx="6" fill="none" stroke="${accent}"/><text class="title" x="${x + 60}" y="120" text-anchor="middle">${title}</text>${lines
      .map((words, i) => `<text class="faint" x="${x + 60}" y="${142 + i * 17}" text-anchor="middle">${words}</text>`)
      .join("")}`

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="Callers over HTTP or in process; a core that decides, commits and then acts; a ledger; and adapters for storage, Lightning, chain and web">
<style>
text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:${text}}
.title{font-weight:600;font-size:14px}
.faint{fill:${faint};font-size:12px}
.label{fill:${faint};font-size:12px}
path{fill:none;stroke-width:1.5}
</style>
<defs>
<marker id="to" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7"><path d="M0 0 8 4 0 8z" style="fill:${line}"/></marker>
<marker id="from" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7"><path d="M8 0 0 4 8 8z" style="fill:${line}"/></marker>
</defs>
<text class="label" x="20" y="36">who calls</text>
${card(20, 52, 190, "Any language", "HTTP /v1, OpenAPI,", "idempotency keys")}
${card(20, 152, 190, "Your Node program", "the same services,", "as promises or effects")}
${card(20, 252, 190, "Wallets of others", "Lightning addresses,", "LNURL, vouchers")}
${card(20, 352, 190, "The operator", "companies, keys, metrics,", "satrail check")}
${[86, 186, 286, 386].map((y) => arrow(210, 258, y)).join("")}
<rect x="260" y="52" width="422" height="368" rx="8" fill="${core}" stroke="${accent}"/>
<text class="label" x="274" y="80">core: no I/O, no HTTP, no SQL</text>
${step(276, "decide", "in pure code:", "a refusal, or", "one Change")}
${step(411, "commit", "rows, postings,", "job and event:", "all or nothing")}
${step(546, "then act", "the node is called", "after the commit,", "or after a crash")}
${[397, 532].map((x) => `<path d="M${x} 142h6" stroke="${line}" marker-end="url(#to)"/>`).join("")}
${card(276, 206, 390, "Double-entry ledger of every account", "a hold before money goes out, a credit once it came in;", "no balance below zero, by the statement that books")}
${card(276, 292, 390, "Unknown is not failed", "settled, failed, pending or unknown: a hold is released", "only when the node reports that the payment failed;", "reconciliation compares the books with its statements")}
<text class="label" x="900" y="36" text-anchor="end">through ports, each with a contract</text>
${card(732, 52, 168, "Storage", "PostgreSQL, or one", "in the same process")}
${card(732, 152, 168, "Lightning", "lnd, LDK,", "phoenixd; yours")}
${card(732, 252, 168, "Chain", "bitcoin node, Esplora;", "a wallet of its own")}
${card(732, 352, 168, "The web", "payees, DNS, rates,", "through one guard")}
${[86, 186, 286, 386].map((y) => both(682, 732, y)).join("")}
</svg>
`
}
