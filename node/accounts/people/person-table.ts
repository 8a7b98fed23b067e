import Type, { type Static } from 'typebox';
import { isPersonId, type PersonAnswer, type PersonId, PersonIdShape } from '../../../protocol/api/people.ts';
import { PRESET_NAMES } from '../../../protocol/api/scopes.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, OrNull, TimestampShape } from '../../../protocol/shapes.ts';
import { freshId } from '../../records/record-id.ts';
import type { Operation } from '../../store/operation.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';
import { KeyIdShape } from '../key-id.ts';
import { emailDigest } from '../mail/mail-address.ts';

const PersonRowShape = Closed({
  id: PersonIdShape,
  account: Type.String(),
  email: Type.String(),
  role: Type.Enum([...PRESET_NAMES]),
  createdAt: TimestampShape,
  expiresAt: OrNull(TimestampShape),
  invitedBy: KeyIdShape,
});
export type Person = Readonly<Static<typeof PersonRowShape>>;

/** (account, person) → who may sign in by mail, and as what. */
export const personTable = jsonTable('person', PersonRowShape);
/** (digest of a mail address, account) → person. */
export const personAddressTable = new Table('person-address', textCodec);

export function newPersonId(node: NodeId, epochMilliseconds: number): PersonId {
  return freshId('per', node, epochMilliseconds, isPersonId);
}

export function personOperations(person: Person): Operation[] {
  const { id, account, email } = person;
  return [personTable.put([account, id], person), personAddressTable.put([emailDigest(email), account], id)];
}

export function personRemoval({ id, account, email }: Person): Operation[] {
  return [personTable.del(account, id), personAddressTable.del(emailDigest(email), account)];
}

/** Whether a person may sign in at a moment (epoch milliseconds). */
export function isWelcome({ expiresAt }: Person, now: number): boolean {
  return expiresAt === null || Date.parse(expiresAt) > now;
}

export function personAnswer({ id, email, role, createdAt, expiresAt, invitedBy }: Person): PersonAnswer {
  return { personId: id, email, role, createdAt, expiresAt, invitedBy };
}
