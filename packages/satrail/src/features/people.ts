import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { LastPasskey, OwnAccess, PersonMoved, PersonRequired, TooManyPasskeys, TooManyPeople } = classes
export const defaults = { people: { list: [undefined, page] } } as const
export const options = {
  people: {
    invite: ["by company idempotencyKey name role"],
    approve: [undefined, "*"],
    recover: [undefined, undefined, "*"],
    promote: [undefined, undefined, undefined, "*"],
    remove: [undefined, undefined, "*"],
    list: [undefined, listed],
    join: ["*", "*", "challengedAt counter id"],
    use: ["*", "challengedAt counter id"],
    addPasskey: ["*", "*", "challengedAt counter id"],
    removePasskey: ["*"]
  }
} as const
