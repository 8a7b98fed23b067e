import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, OrNull, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { MailAddressShape } from './network-addresses.ts';
import type { KEY_PRESETS } from './scopes.ts';
import { PRESET_NAMES } from './scopes.ts';
import { MomentShape } from './times.ts';

export type PersonId = string & { readonly __brand: 'PersonId' };
const PERSON_ID_PATTERN = idPattern('per');
export const PersonIdShape = Type.Unsafe<PersonId>(Type.String({ pattern: PERSON_ID_PATTERN }));

const PERSON_ID = new RegExp(PERSON_ID_PATTERN);

export function isPersonId(text: string): text is PersonId {
  return PERSON_ID.test(text);
}

/** Whoever reads the mail of the account's own address. */
export const OWNER = 'owner';
/** Who reads mail of an account: its owner, or one of its people. */
export type MailReader = typeof OWNER | PersonId;

export function isMailReader(text: string): text is MailReader {
  return text === OWNER || isPersonId(text);
}

/** `POST /v1/people`. */
export const InviteRequestShape = Closed({
  email: MailAddressShape,
  /** What they may do: that of the keys of this preset. */
  role: Type.Enum([...PRESET_NAMES]),
  /** When they may sign in no more. An auditor has one: 90 days, where nothing is said. */
  expiresAt: Type.Optional(OrNull(MomentShape)),
});
export type InviteRequest = Readonly<Static<typeof InviteRequestShape>>;

export const PersonShape = Closed(
  {
    personId: PersonIdShape,
    email: Type.String(),
    role: Type.Enum([...PRESET_NAMES]),
    createdAt: TimestampShape,
    expiresAt: OrNull(TimestampShape),
    /** The API key that invited them. */
    invitedBy: Type.String(),
  },
  { title: 'Person' },
);
export type PersonAnswer = Readonly<Static<typeof PersonShape>>;

const success = Type.Literal(true);

/** `mailed`: whether the mail that invites them was taken; it can be sent again by signing in. */
export const InvitedAnswerShape = Closed({
  success,
  personId: PersonIdShape,
  mailed: Type.Boolean(),
  person: PersonShape,
});
export const PeopleAnswerShape = Closed({ success, people: Type.Array(PersonShape) });
export const RemovedPersonAnswerShape = Closed({ success, personId: PersonIdShape });

const PERSON = {
  personId: EXAMPLE_IDS.person,
  email: 'auditor@example.org',
  role: 'auditor',
  createdAt: EXAMPLE_SUBMITTED_AT,
  expiresAt: '2027-02-19T09:30:00.000Z',
  invitedBy: EXAMPLE_IDS.key,
};

export const PEOPLE_EXAMPLE = {
  request: { email: PERSON.email, role: 'auditor' satisfies keyof typeof KEY_PRESETS },
  invited: { success: true, personId: EXAMPLE_IDS.person, mailed: true, person: PERSON },
  list: { success: true, people: [PERSON] },
  removed: { success: true, personId: EXAMPLE_IDS.person },
};
