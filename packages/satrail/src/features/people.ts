import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"

export const { LastPasskey, OwnAccess, PersonMoved, PersonRequired, TooManyPasskeys, TooManyPeople } = classes
export const defaults = { people: { list: [undefined, page] } } as const
