import * as ConsoleSession from "./ConsoleSession.ts"
import { make } from "./Extension.ts"

/** The console: where people sign in. It asks for what there is over the API, as every other client. */
export const extension = make(ConsoleSession.routes)
