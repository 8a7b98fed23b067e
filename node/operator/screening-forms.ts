import Type, { type Static } from 'typebox';
import { MAX_GIVEN_NAME } from '../../protocol/api/attested-screening.ts';
import { Base64urlShape, Closed, CountShape, OrNull, RecordIdShape, Sha256Shape } from '../../protocol/shapes.ts';
import { REPEAT_ERROR_CODES } from '../screening/repeat-screening.ts';

const ResultShape = Type.Enum(['match', 'no-match']);

/** `POST /screenings/repeat`: what was asked then, with the salt that the answer gave. */
export const RepeatScreeningShape = Closed({
  attestationId: RecordIdShape,
  name: Type.String({ minLength: 1, maxLength: MAX_GIVEN_NAME }),
  salt: Base64urlShape,
});
export type RepeatQuestion = Static<typeof RepeatScreeningShape>;

/** Refused: nothing was compared, for the reason given. */
export const RepeatAnswerShape = Closed({
  success: Type.Literal(true),
  outcome: Type.Enum(['agrees', 'differs', 'refused']),
  code: OrNull(Type.Enum([...REPEAT_ERROR_CODES])),
  detail: OrNull(Type.String()),
  recorded: OrNull(ResultShape),
  repeated: OrNull(ResultShape),
  lists: Type.Array(
    Closed({
      listId: Type.String(),
      fileHash: Sha256Shape,
      fileDate: OrNull(Type.String()),
      matchCount: CountShape,
      /** Of the entries that match, at most fifty. */
      entries: Type.Array(Type.String()),
    }),
  ),
});
export type RepeatAnswer = Static<typeof RepeatAnswerShape>;
