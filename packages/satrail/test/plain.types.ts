// Checked by the compiler: the package's declarations contain no effect types and no brands, except in
// `runtime` and `layer`.
import type * as Index from "../src/index.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Holds<T extends true> = T

/** A mark of every effect type and of brands. */
type Mark = `~effect/${string}`

type Deeper = [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
type Path = string

/** The paths in a type that lead to effect types. */
type Marked<T, P extends Path, D extends number> = D extends 9
  ? never
  : unknown extends T
    ? never
    : T extends null | undefined
      ? never
      : [Extract<keyof T, Mark>] extends [never]
        ? T extends string | number | bigint | boolean | symbol | Date | Uint8Array | Error | Promise<never>
          ? never
          : T extends Promise<infer A>
            ? Marked<A, `${P} resolved`, Deeper[D]>
            : T extends AsyncIterable<infer A>
              ? Marked<A, `${P} iterated`, Deeper[D]>
              : T extends ReadonlyArray<infer A>
                ? Marked<A, P, Deeper[D]>
                : T extends (...asked: infer A) => infer R
                  ? Marked<A[number], `${P} asked`, Deeper[D]> | Marked<R, `${P} returned`, Deeper[D]>
                  : T extends object
                    ? { [K in keyof T & string]: Marked<T[K], `${P}.${K}`, Deeper[D]> }[keyof T & string]
                    : never
        : P

type Bridges = "runtime" | "layer"
type OfPay = Marked<Omit<Index.SimulatedPay, Bridges | "handler">, "pay", 0>
export type PayIsPlain = Holds<Equal<OfPay, never>>
/** A feature of the program is made with Effect. */
export type OptionsArePlain = Holds<Equal<Marked<Omit<Index.Options, "features">, "options", 0>, never>>

/** The instances of the error classes. effect adds optional members to every `Error` of a program. */
type Exported = {
  [K in keyof typeof Index]: (typeof Index)[K] extends new (...given: never) => infer E ? E : never
}[keyof typeof Index]
type OfErrors = Exported extends infer E
  ? E extends object
    ? Marked<Omit<E, keyof Error>, "error", 0> | Exclude<Extract<keyof E, Mark>, keyof Error>
    : never
  : never
export type ErrorsArePlain = Holds<Equal<OfErrors, never>>

// The check finds an effect type if there is one.
export type ABridgeIsFound = Holds<
  Equal<
    Marked<{ readonly a: () => Promise<{ readonly b: Index.Pay["layer"] }> }, "x", 0>,
    "x.a returned resolved.b"
  >
>
