import type { Static } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import { RegisterAgentRequestShape } from '../../../protocol/api/agents.ts';
import { parseText } from '../../../protocol/json/text.ts';
import { type OpenedPayload, PayloadDamagedError } from '../../records/payload/payload-cipher.ts';

/** What an account says of its agent. Stands in the payload of the registration alone. */
export type Particulars = Pick<
  Static<typeof RegisterAgentRequestShape>,
  'displayName' | 'jurisdiction' | 'permittedUses' | 'metadata'
>;

const compiled = Compile(RegisterAgentRequestShape);

/** Throws `PayloadDamagedError` where the payload is no registration's. */
export function particularsOf({ text }: OpenedPayload): Particulars {
  const value: unknown = parseText(text);
  if (compiled.Check(value)) return value;
  throw new PayloadDamagedError('the payload is not that of a registration');
}
