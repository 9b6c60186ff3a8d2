import { operatorToken, type start } from "./Service.ts"

/**
 * The ids of a company's adjustments, one in each state, and the token of the second operator, who decided two
 * of them.
 */
export const adjusted = async (service: Awaited<ReturnType<typeof start>>, companyId: string) => {
  const body = { name: "second operator", scopes: ["mend", "companies"] }
  const second: string = (await service.ask("POST", "/operator/tokens", { key: operatorToken, body })).body
    .data.token
  const request = async (): Promise<string> => {
    const ask = { company_id: companyId, amount_sats: 1, reason: "a drill" }
    return (await service.ask("POST", "/operator/adjustments", { key: operatorToken, body: ask })).body.data
      .id
  }
  const decide = (id: string, how: string) =>
    service.ask("POST", `/operator/adjustments/${id}/${how}`, { key: second })
  // The configured token may approve this adjustment, because the second operator requested it.
  const asked: string = (
    await service.ask("POST", "/operator/adjustments", {
      key: second,
      body: { company_id: companyId, amount_sats: 1, reason: "a drill" }
    })
  ).body.data.id
  const [booked, rejected] = [await request(), await request()]
  await decide(booked, "approve")
  await decide(rejected, "reject")
  return { asked, booked, rejected, second }
}
