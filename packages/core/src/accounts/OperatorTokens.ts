import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as SecretHash from "../base/SecretHash.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import { checkName } from "./Companies.ts"
import * as OperatorToken from "./OperatorToken.ts"

/** A new token. `text` is the token itself, which is never shown again. */
export interface Issued {
  readonly token: OperatorToken.OperatorToken
  readonly text: Redacted.Redacted
}

/** Returns why a token cannot have these scopes; undefined if it can. */
export const scopesIssue = (scopes: ReadonlyArray<OperatorToken.Scope>): string | undefined =>
  scopes.length === 0 ? `must contain at least one of ${OperatorToken.Scope.literals.join(", ")}` : undefined

/** Manages operators' tokens. Each operator has their own. */
export class OperatorTokens extends Context.Service<
  OperatorTokens,
  {
    readonly issue: (ask: {
      readonly name: string
      readonly scopes: ReadonlyArray<OperatorToken.Scope>
      /** Its `render` must encrypt the token, because the output is stored. */
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<Answer.Outcome<Issued>, Invalid | Conflict | IdempotencyMismatch | StoreUnavailable>
    /** Returns a page of tokens, newest first, including revoked ones. */
    readonly list: (
      query: Page.Asked
    ) => Effect.Effect<Page.Page<OperatorToken.OperatorToken>, Invalid | StoreUnavailable>
    /** Revokes a token. By the time this returns, no process accepts the token. Revoking it again changes nothing. */
    readonly revoke: (id: string) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Returns the operator with this token id, for a session that was started with the token; none if it is
     * revoked.
     */
    readonly standing: (id: string) => Effect.Effect<Option.Option<OperatorToken.Operator>, StoreUnavailable>
    /** Authenticates a token; none if it is unknown or revoked. */
    readonly check: (text: string) => Effect.Effect<Option.Option<OperatorToken.Operator>, StoreUnavailable>
  }
>()("@satrail/core/accounts/OperatorTokens") {}

const open = Option.filter<OperatorToken.OperatorToken>(({ revokedAtMillis }) => revokedAtMillis === null)

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const { noun } = OperatorToken

  return OperatorTokens.of({
    issue: Effect.fnUntraced(function* ({ name, scopes, request }) {
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      yield* checkName(name)
      const message = scopesIssue(scopes)
      if (message !== undefined) return yield* new Invalid({ path: "scopes", message })
      const { secretHash, text } = OperatorToken.generate(entropy)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const token: OperatorToken.OperatorToken = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId: CompanyId.operator,
        name,
        secretHash,
        scopes: [...new Set(scopes)],
        createdAtMillis,
        revokedAtMillis: null
      }
      const issued = { token, text }
      const once = Answer.once(CompanyId.operator, request, issued, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(OperatorToken.issued(token, once)), issued)
    }),
    list: (query) =>
      Page.read(query, (before, limit) => nouns.newestFirst(noun, CompanyId.operator, before, limit)),
    revoke: Effect.fnUntraced(function* (id) {
      const token = yield* found("operator token", id, nouns.get(noun, CompanyId.operator, id))
      yield* journal.commit(OperatorToken.revoked(token, yield* Clock.currentTimeMillis))
    }),
    // Read the store each time: operators make few requests, and a revocation must take effect when it commits.
    standing: (id) => Effect.map(nouns.get(noun, CompanyId.operator, id), open),
    check: (text) =>
      OperatorToken.isToken(text)
        ? Effect.map(nouns.named(noun, { secretHash: SecretHash.of(text) }), open)
        : Effect.succeedNone
  })
})

export const layer = Layer.effect(OperatorTokens, make)
