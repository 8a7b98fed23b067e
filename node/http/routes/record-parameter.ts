import { isRecordId, type RecordId } from '../../../protocol/ids.ts';
import { fieldError, Problem } from '../problem.ts';

/** The record id in a path. Throws `Problem` 400 where it has not the form of one. */
export function recordParameter(params: Readonly<Record<string, string>>): RecordId {
  const { id = '' } = params;
  if (isRecordId(id)) return id;
  throw new Problem('invalid-field', 'the path does not hold an attestation id', {
    errors: [fieldError(['attestationId'], 'pattern', 'is not an attestation id')],
  });
}

/** 404 for a record that no node at hand knows. `found` and `verified` serve callers who read only those. */
export function recordNotFound(id: RecordId): Problem {
  return new Problem('attestation-not-found', `There is no attestation ${id}.`, {
    extra: { found: false, verified: false },
  });
}
