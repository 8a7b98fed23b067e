/** What an API key may do. */
export const SCOPES = [
  'attest:write',
  'governance:write',
  'proof:read',
  'export:read',
  'audit:read',
  'keys:admin',
  'erasure:execute',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Sets of scopes for the people and programs that usually hold a key. */
export const KEY_PRESETS = {
  ingest: ['attest:write', 'proof:read'],
  compliance: ['attest:write', 'governance:write', 'proof:read', 'export:read', 'erasure:execute'],
  auditor: ['proof:read', 'export:read', 'audit:read'],
  admin: SCOPES,
} as const satisfies Record<string, readonly Scope[]>;
export type KeyPreset = keyof typeof KEY_PRESETS;

/** The names of the presets. */
export const PRESET_NAMES = ['ingest', 'compliance', 'auditor', 'admin'] as const satisfies readonly KeyPreset[];
