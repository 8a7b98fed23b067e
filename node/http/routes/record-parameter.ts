import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { ANY_ID_PATTERN, isIdOf, recordOfAnyId } from '../../../protocol/object-ids.ts';
import { fieldProblem, Problem } from '../problem.ts';
import type { ParameterDocumentation } from '../route.ts';

/** The path parameter `id`, for the API's documentation. */
export const RECORD_PARAMETER: Readonly<Record<string, ParameterDocumentation>> = {
  id: {
    description: 'Id of an attestation, or of what it made, as of a session or an incident.',
    shape: Type.String({ pattern: ANY_ID_PATTERN }),
    example: EXAMPLE_IDS.decision,
  },
};

/**
 * The record that the id in a path stands for: its own id, or that of what it made, as of a session. Throws `Problem`
 * 400 where the text is no such id.
 */
export function recordParameter(params: Readonly<Record<string, string>>): RecordId {
  const id = recordOfAnyId(params.id ?? '');
  if (id !== undefined) return id;
  throw fieldProblem('id', 'pattern', 'is not an attestation id');
}

/**
 * What was found of the record that the id in a path stands for. Throws `Problem` 404 where nothing was, or the id is
 * that of a thing which a record of another kind makes.
 */
export function requireFound<Found extends { readonly record: AttestationRecord }>(
  { id = '' }: Readonly<Record<string, string>>,
  found: Found | undefined,
): Found {
  if (found !== undefined && isIdOf(id, found.record)) return found;
  throw recordNotFound(id);
}

/** 404 for a record that no node at hand knows. `found` and `verified` serve callers who read only those. */
export function recordNotFound(id: string): Problem {
  return new Problem('attestation-not-found', `There is no attestation ${id}.`, {
    extra: { found: false, verified: false },
  });
}
