// Next's App Router: app/v1/[...path]/route.ts. Next takes one exported function for each method.
import { handler } from "../../../../payments.ts"

export const runtime = "nodejs" // not the edge: the service has workers and a database
export const dynamic = "force-dynamic"
export { handler as DELETE, handler as GET, handler as PATCH, handler as POST, handler as PUT }
