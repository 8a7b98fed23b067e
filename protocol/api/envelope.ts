import Type from 'typebox';
import { EntityIdShape, RecordIdShape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT, EXAMPLE_TOPIC } from './example-ids.ts';

/** The status that an accepted record has, or with `Prefer: wait` the one that it reached. */
export const StatusShape = Type.Enum(['pending', 'buffered', 'anchored', 'confirmed'], { title: 'RecordStatus' });
export const WarningsShape = Type.Array(Type.String());

/** Members of every answer to an accepted record (api-rules §7). */
export const ENVELOPE_MEMBERS = {
  success: Type.Literal(true),
  attestationId: RecordIdShape,
  status: StatusShape,
  submittedAt: TimestampShape,
  topic: EntityIdShape,
  verifyUrl: Type.String(),
  warnings: WarningsShape,
};

export const ENVELOPE_EXAMPLE = {
  success: true,
  attestationId: EXAMPLE_IDS.decision,
  status: 'pending',
  submittedAt: EXAMPLE_SUBMITTED_AT,
  topic: EXAMPLE_TOPIC,
  verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.decision}`,
  warnings: [],
} as const;
