// Draws a deployment as an SVG: who reaches the proxy, and what each process connects to.
import { frame, make, type Palette } from "./Drawing.ts"

const size = { width: 920, height: 490 }
const about =
  "Payers and your program reach a proxy over https; it passes requests to several processes, which share one PostgreSQL primary with a standby, a Lightning node and a bitcoin node; operators reach the processes only from inside"

export const draw = (palette: Palette): string => {
  const { card, arrow, label, area } = make(palette)
  const content = `${label(20, 30, "outside")}
${card(20, 60, 170, "Payers", "checkout, wallets")}
${card(20, 160, 170, "Your program", "/v1, API key")}
${card(20, 260, 170, "Your webhooks", "signed events")}
${area(230, 44, 670, 426, "none")}
${label(244, 30, "your network")}
${card(250, 100, 150, "Proxy", "Caddy or nginx:", "TLS, /readyz/running")}
${arrow("M190 86H220V130H242")}
${arrow("M190 186H220V140H242")}
${card(450, 60, 190, "Process 1", "leader of some roles")}
${card(450, 130, 190, "Process 2", "takes over within 7 s")}
${card(450, 200, 190, "Process 3", "any can stop or crash")}
${["M400 128H425V86H442", "M400 134H425V156H442", "M400 140H425V226H442"].map(arrow).join("")}
${card(250, 370, 150, "Operator", "/operator, /readyz,", "Prometheus")}
${arrow("M400 404H545V259")}
${arrow("M450 240H425V286H198")}
${card(710, 60, 170, "PostgreSQL", "primary: all state")}
${card(710, 150, 170, "Standby", "has each acknowledged", "commit")}
${arrow("M795 111V142")}
${card(710, 260, 170, "lnd or LDK", "one node, its channels")}
${card(710, 330, 170, "bitcoin node", "blocks and broadcast")}
${card(710, 400, 170, "Wallet file", "or your own signer")}
${arrow("M640 86H702")}
${["M640 156H675V86", "M640 226H675V86"].map((path) => `<path d="${path}" stroke="${palette.line}"/>`).join("")}
${arrow("M640 232H660V286H702")}
${arrow("M660 286V356H702")}
${arrow("M660 356V424H702")}`
  return frame(palette, size, about, content)
}
