import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  InvitedAnswerShape,
  InviteRequestShape,
  PEOPLE_EXAMPLE,
  PeopleAnswerShape,
  PersonIdShape,
  RemovedPersonAnswerShape,
} from '../../../protocol/api/people.ts';
import { personAnswer } from '../../accounts/people/person-table.ts';
import type { People } from '../../accounts/people/people.ts';
import { readJsonBody } from '../body.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import type { KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/people';
const BODY = { maxBytes: 8 << 10 };
const validate = validator(InviteRequestShape);

export interface PeopleRouteServices {
  readonly people: People;
  readonly addressOf: AddressOf;
}

/** `/v1/people` (api-rules §2.10): who signs in at the console by mail, and as what. */
export function peopleRoutes(services: PeopleRouteServices): readonly KeyRoute[] {
  return [inviteRoute(services), listRoute(services), removeRoute(services)];
}

function inviteRoute({ people, addressOf }: PeopleRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Invites a person to the console',
      description:
        'A mail says where to sign in: by a link that is mailed to the address then. The role is a preset of keys, and may ' +
        'do no more than the key that asks; that of an auditor ends, after 90 days where nothing is said.',
      request: { shape: InviteRequestShape, example: PEOPLE_EXAMPLE.request },
      answer: { shape: InvitedAnswerShape, example: PEOPLE_EXAMPLE.invited },
      problems: ['missing-field', 'invalid-field', 'person-exists', 'too-many-people', 'home-only', 'rate-limited'],
    },
    async answer({ context }, caller) {
      requireHome(caller, addressOf);
      const request = validate((await readJsonBody(context.req, BODY)).value);
      const { account, key } = caller;
      const { person, mailed } = await people.invite(account.id, key.id, request);
      return { body: { success: true, personId: person.id, mailed, person: personAnswer(person) } };
    },
  };
}

function listRoute({ people }: PeopleRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'The people of the account',
      description: 'The oldest first. Not for a key that is limited to sources or to a period.',
      answer: { shape: PeopleAnswerShape, example: PEOPLE_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      requireWholeAccount(caller, 'The list has all people of the account');
      return { body: { success: true, people: (await people.list(caller.account.id)).map(personAnswer) } };
    },
  };
}

function removeRoute({ people }: PeopleRouteServices): KeyRoute {
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Removes a person',
      description: 'With all that they are signed in by, and every API key that they made, at once.',
      params: { id: { description: 'Id of the person.', shape: PersonIdShape, example: EXAMPLE_IDS.person } },
      answer: { shape: RemovedPersonAnswerShape, example: PEOPLE_EXAMPLE.removed },
      problems: ['person-not-found'],
    },
    async answer({ params: { id = '' } }, { account, key }) {
      await people.remove(account.id, id, key.id);
      return { body: { success: true, personId: id } };
    },
  };
}
