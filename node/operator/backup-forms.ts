import Type, { type Static } from 'typebox';
import { MAX_GIVEN_NAME } from '../../protocol/api/attested-screening.ts';
import { StartWaitShape } from '../../protocol/api/start-waits.ts';
import {
  Base64urlShape,
  Closed,
  CountShape,
  NodeIdShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
} from '../../protocol/shapes.ts';
import { RestorationsShape } from '../federation/start/restoration-table.ts';
import { StoreCopyShape } from '../fsck/backup/copy-store.ts';
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

/** What an operator asks about copies of the store, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);

/** `POST /store-copies`: the store as it is now, into a new folder that the node can write. */
export const CopyStoreShape = Closed({ directory: Type.String({ minLength: 1 }) });
export const CopyStoreAnswerShape = Closed({ success, node: NodeIdShape, copy: StoreCopyShape });

/** `GET /restorations`: what became of copies that this store comes from. */
export const RestorationsAnswerShape = Closed({
  success,
  node: NodeIdShape,
  /** Whether it signs nothing yet, and what it waits for. */
  recovering: Type.Boolean(),
  waits: Type.Array(StartWaitShape),
  restorations: RestorationsShape,
  /** API keys in force that are as old as the last copy: those that were revoked since are in force again. */
  copiedKeys: CountShape,
});
