import * as Root from "@satrail/service"
import * as Ports from "@satrail/core/ports"
import * as Records from "@satrail/service/records"
import * as More from "@satrail/service/services"
import * as Outside from "@satrail/sandbox/Refused"
import { type Code, catalogue } from "@satrail/service/http/pages/Catalogue"
import type * as Msat from "@satrail/bitcoin/Msat"
import type { Detailed, Issue, Pascal } from "@satrail/client/Errors"

export type { Issue }

/** An error returned by the service. Test for it with `error instanceof SatrailError`. */
export interface SatrailError extends Error {
  /** The name of the error's class. */
  readonly _tag: string
  /** The stable code, as in the HTTP API. See the error reference. */
  readonly code: string
  /** Whether the same request may succeed later. Repeat it with the same `idempotencyKey`. */
  readonly isRetryable: boolean
  /** Whether the request may have taken effect. Repeat it with the same `idempotencyKey` to find out. */
  readonly isUnknown: boolean
  /** Every invalid field of the request. */
  readonly issues: ReadonlyArray<Issue>
  /** The names of the invalid fields. */
  readonly paths: ReadonlyArray<string>
  /** Other fields of the error in the HTTP API, such as `available`. */
  readonly details: Readonly<Record<string, unknown>>
}

const isSatrailError = (error: unknown): error is SatrailError =>
  error instanceof Error && Object.hasOwn(error, "isRetryable")

/** Matches every error of the service, as in `@satrail/client`. */
export const SatrailError: { [Symbol.hasInstance](error: unknown): error is SatrailError } = {
  [Symbol.hasInstance]: isSatrailError
}

/** One class for each error code; for example, `insufficient_balance` is `errors.InsufficientBalance`. */
export type Errors = {
  readonly [C in Code | "not_settled" as Pascal<C>]: {
    [Symbol.hasInstance](error: unknown): error is SatrailError & Detailed<C>
  }
}

const pascal = (code: string): string =>
  code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * The service's errors, as in `@satrail/client`.
 *
 * @example
 * if (error instanceof errors.InsufficientBalance) console.log(error.details.needed.sats)
 */
// oxlint-disable-next-line typescript/consistent-type-assertions -- derived from the codes like the type
export const errors = Object.fromEntries(
  [...Object.keys(catalogue), "not_settled"].map((code) => [
    pascal(code),
    { [Symbol.hasInstance]: (error: unknown) => isSatrailError(error) && error.code === code }
  ])
) as unknown as Errors

const modules = { ...Root, ...More, ...Records, ...Ports, Outside }
type Modules = typeof modules

interface Tagged {
  readonly _tag: string
  readonly message: string
  readonly stack?: string
}

type Exported = { readonly [N in keyof Modules]: Modules[N][keyof Modules[N]] }[keyof Modules]
type Class = Extract<Exported, abstract new (...given: never) => Tagged>

type Bare<T> = T extends Msat.Msat
  ? bigint
  : T extends string & { readonly "~effect/Brand": unknown }
    ? string
    : T extends object
      ? { readonly [K in keyof T]: Bare<T[K]> }
      : T

/** An error's own fields, without those of the underlying library. */
type Members<E extends Tagged> = {
  readonly [
    K in keyof E as K extends keyof Error | symbol | "toJSON" | "asEffect" | `~effect/${string}` ? never : K
  ]: Bare<E[K]>
}

type ErrorClass<E extends Tagged> = new (...given: ReadonlyArray<unknown>) => SatrailError & Members<E>

type Instance = InstanceType<Class>
type Classes = { readonly [Tag in Instance["_tag"]]: ErrorClass<Extract<Instance, { readonly _tag: Tag }>> }

const isClass = (value: unknown): value is { readonly prototype: Tagged; readonly name: string } =>
  typeof value === "function" && value.prototype instanceof Error

/** The classes of all errors that methods may throw, by name. */
// oxlint-disable-next-line typescript/consistent-type-assertions -- collected from the modules like the type
export const classes = Object.fromEntries(
  Object.values(modules).flatMap((module) => Object.entries(module).filter(([, value]) => isClass(value)))
) as unknown as Classes
