import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { PSEUDONYM_PATTERN } from '../../protocol/chain/claims.ts';
import { jsonCodec, Table } from '../store/table.ts';

const HoldRowShape = Type.Object(
  { lockedBy: Type.String({ pattern: PSEUDONYM_PATTERN }), keyId: Type.String() },
  { additionalProperties: false },
);
/** Who placed a legal hold: a person, under a pseudonym, and by which API key. */
export type HoldRow = Static<typeof HoldRowShape>;

const compiled = Compile(HoldRowShape);

/** (lock) → who placed its legal hold, for as long as it holds: the release needs a second person. */
export const holdTable = new Table(
  'hold',
  jsonCodec((value: unknown): value is HoldRow => compiled.Check(value)),
);
