import type { Asserted } from '../chain/asserted.ts';

/** Classes of systems that a law applies to from different days on. */
export const SYSTEM_CLASSES = ['annexIII', 'annexI', 'gpai'] as const;
export type SystemClass = (typeof SYSTEM_CLASSES)[number];

/** The annex alone, or a section or a point of it. */
const ANNEX_III = /^(?:annex\s+)?III(?:$|[\s,]*\(?\d|[\s,]+[a-z]\b)/i;
const ANNEX_I = /^(?:annex\s+)?I(?:$|[\s,]*\(?\d|[\s,]+[a-z]\b)/i;

/**
 * The class that the register asserts of a system: by the point of an annex of the EU AI Act, or as a general-purpose
 * model. Null where it asserts none. Of several the one that the law applies to first.
 */
export function systemClassOf({ annexPoint = [], riskClass = '', role }: Asserted): SystemClass | null {
  if (role === 'gpai-provider' || riskClass.startsWith('gpai')) return 'gpai';
  if (annexPoint.some((point) => ANNEX_III.test(point.trim()))) return 'annexIII';
  return annexPoint.some((point) => ANNEX_I.test(point.trim())) ? 'annexI' : null;
}
