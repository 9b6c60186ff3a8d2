/**
 * The lists of features in a program, for the compiler. A list adds itself with `declare module`, so that the code
 * below the features knows their types without importing them.
 */
export interface Registry {}

/** Any feature of any list. */
export type Registered = Registry[keyof Registry] extends ReadonlyArray<infer F> ? F : never
