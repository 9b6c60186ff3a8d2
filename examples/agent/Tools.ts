import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { client, type Options, SatrailError } from "@satrail/client"
import { z } from "zod"

/** Runs a tool. The agent reads the reason of a refusal. */
const told = async (work: () => Promise<string>): Promise<CallToolResult> => {
  try {
    return { content: [{ type: "text", text: await work() }] }
  } catch (error) {
    if (!(error instanceof SatrailError)) throw error
    return { content: [{ type: "text", text: `${error.code}: ${error.message}` }], isError: true }
  }
}

/** The tools of an agent, which can do no more than its API key. */
export const tools = (options: Options) => {
  const pay = client(options)
  const server = new McpServer({ name: "wallet", version: "1.0.0" })
  server.registerTool("balance", { description: "Returns the available balance in sats" }, () =>
    told(async () => String((await pay.transactions.balance()).available.sats))
  )
  server.registerTool(
    "pay",
    {
      description: "Pays an invoice or a Lightning address. To repeat a payment, use the same id",
      inputSchema: { id: z.string(), destination: z.string(), sats: z.number().int() }
    },
    ({ id, destination, sats }) =>
      told(async () => {
        const sent = await pay.withdrawals.confirm({ destination, amount: sats, idempotencyKey: id })
        return (await pay.withdrawals.settled(sent.id)).status
      })
  )
  return server
}
