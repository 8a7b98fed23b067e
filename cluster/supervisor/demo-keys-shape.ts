import Type, { type Static } from 'typebox';

/** API keys of the demo accounts, one a tier; `bench` has no limits. */
export const DemoKeysShape = Type.Object({
  developer: Type.String(),
  standard: Type.String(),
  professional: Type.String(),
  enterprise: Type.String(),
  bench: Type.String(),
});
export type DemoKeys = Static<typeof DemoKeysShape>;
