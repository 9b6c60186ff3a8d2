// app/buy/route.ts
import { checkout } from "../../../shop.ts"

export const POST = async (request: Request) => {
  const form = await request.formData()
  return Response.redirect(await checkout(String(form.get("order"))), 303)
}
