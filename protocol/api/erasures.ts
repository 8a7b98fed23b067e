import Type from 'typebox';
import { Closed, CountShape, OneOf, RecordIdShape } from '../shapes.ts';
import { MAX_LINKED } from '../chain/claims.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { IdTextShape, ObjectIdShape, PersonShape } from './governance-fields.ts';

/** Source under which records of erasure stand, and those of refused ones: they are about records of any source. */
export const ERASURE_SOURCE = 'erasures';

/** What the record of a refused erasure asserts. It says of nothing that it is gone. */
export const ERASURE_REQUEST_TYPE = 'erasure';
export const REFUSED_OUTCOME = 'refused';

const RecordsShape = Type.Array(IdTextShape, { minItems: 1, maxItems: MAX_LINKED });
/** The person as named in `subjectRef` when the records were made. */
const PersonNamedShape = TextShape(1, 256);
const BASIS_MEMBERS = { legalBasis: TextShape(1, 500), requestedBy: PersonShape };

/** `POST /v1/erasures`: either `attestationIds` or `subjectRef`. */
export const ErasureRequestShape = Type.Object({
  attestationIds: Type.Optional(RecordsShape),
  subjectRef: Type.Optional(PersonNamedShape),
  ...BASIS_MEMBERS,
});

/** The same for the document: it takes one of the two, and no more. */
export const ErasureDocumentShape = OneOf(
  Type.Object({ attestationIds: RecordsShape, ...BASIS_MEMBERS }, { title: 'ErasureOfRecords' }),
  Type.Object({ subjectRef: PersonNamedShape, ...BASIS_MEMBERS }, { title: 'ErasureOfPerson' }),
);

export const ErasureAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  erasureId: ObjectIdShape,
  /** The records of this erasure, each of up to 100 payloads; the last is the one that this answer is about. */
  erasures: Type.Array(Closed({ erasureId: ObjectIdShape, attestationId: RecordIdShape, erasedCount: CountShape })),
  erasedCount: CountShape,
  /** Of those asked for, whose payload was gone before. */
  alreadyErased: Type.Array(RecordIdShape),
  /** False where the person has more records than one request erases: send it again. */
  complete: Type.Boolean(),
});

export const ERASURE_EXAMPLE = {
  request: {
    attestationIds: [EXAMPLE_IDS.decision],
    legalBasis: 'GDPR Article 17(1)(b)',
    requestedBy: 'privacy-office',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.erasureRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.erasureRecord}`,
    erasureId: EXAMPLE_IDS.erasure,
    erasures: [{ erasureId: EXAMPLE_IDS.erasure, attestationId: EXAMPLE_IDS.erasureRecord, erasedCount: 1 }],
    erasedCount: 1,
    alreadyErased: [],
    complete: true,
  },
} as const;
