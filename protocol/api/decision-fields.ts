import Type from 'typebox';
import { TextShape } from './fields.ts';

/** What a decision may be about, beside its own data. */
export const SUBJECT_MEMBERS = {
  /** An incident of the account. With the event `AUTHORITY_NOTIFICATION`: the one that the authority was told of. */
  incidentId: Type.Optional(TextShape(1, 64)),
  /** The person concerned, in the caller's own words: kept in the payload, and found again only to be erased. */
  subjectRef: Type.Optional(TextShape(1, 256)),
};
