// app/webhooks/route.ts
import { receive } from "../../../shop.ts"

export const POST = async (request: Request) => new Response(null, { status: await receive(request) })
