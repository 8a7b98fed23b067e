import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  DEFAULT_OVERSIGHT_PAGE,
  DeletedPolicyAnswerShape,
  MadePolicyAnswerShape,
  MAX_OVERSIGHT_PAGE,
  OVERSIGHT_EXAMPLE,
  OversightAnswerShape,
  OversightQueryShape,
  PoliciesAnswerShape,
  PolicyIdShape,
  PolicyRequestShape,
} from '../../../protocol/api/oversight.ts';
import { CountShape } from '../../../protocol/shapes.ts';
import { type Caller, covers, reaches } from '../../accounts/caller.ts';
import { policyAnswer } from '../../governance/oversight/oversight-tables.ts';
import type { OversightQueue } from '../../governance/oversight/oversight-queue.ts';
import type { Policies } from '../../governance/oversight/policies.ts';
import { readJsonBody } from '../body.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import { queryReader } from '../query.ts';
import { PageCursor } from '../page-cursor.ts';
import type { KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/oversight-policies';
const BODY = { maxBytes: 16 << 10 };
const ID = { id: { description: 'Id of the policy.', shape: PolicyIdShape, example: EXAMPLE_IDS.policy } };
const LIMIT = OversightQueryShape.properties.limit;
const CURSOR = new PageCursor(Type.Tuple([CountShape]), [42]);
const validate = validator(PolicyRequestShape);
const readQuery = queryReader(OversightQueryShape);

export interface OversightRouteServices {
  readonly policies: Policies;
  readonly oversight: Pick<OversightQueue, 'page'>;
  readonly addressOf: AddressOf;
}

/** What people of an account have to look at, and by which policies (api-rules §4.3). */
export function oversightRoutes(services: OversightRouteServices): readonly KeyRoute[] {
  return [queueRoute(services), listRoute(services), createRoute(services), deleteRoute(services)];
}

function queueRoute({ oversight }: OversightRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/oversight',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The decisions that people still have to look at',
      description:
        'The oldest first: decisions that a policy of the account chose, made on this node, until as many different ' +
        'people as it asks for have looked at them (`POST /v1/human-override`). Those that the key reaches.',
      query: {
        cursor: CURSOR.parameter,
        limit: { description: `At most ${MAX_OVERSIGHT_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: OversightAnswerShape, example: OVERSIGHT_EXAMPLE.queue },
      problems: ['invalid-field'],
    },
    async answer({ query }, { account, key }) {
      const { cursor, limit = DEFAULT_OVERSIGHT_PAGE } = readQuery(query);
      const { items, next } = await oversight.page({
        account: account.id,
        accepts: ({ sourceId, submittedAt }) => reaches(key, sourceId) && covers(key, submittedAt),
        after: CURSOR.read(cursor)?.[0],
        limit,
      });
      return {
        body: { success: true, items: [...items], nextCursor: next === undefined ? null : CURSOR.write([next]) },
      };
    },
  };
}

function listRoute({ policies }: OversightRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'What people of the account have to look at',
      description: 'The oldest policy first.',
      answer: { shape: PoliciesAnswerShape, example: OVERSIGHT_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, { account }) {
      return { body: { success: true, policies: policies.list(account.id).map(policyAnswer) } };
    },
  };
}

function createRoute({ policies, addressOf }: OversightRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'Says which decisions a person has to look at',
      description:
        'Decisions of production for which all of `when` holds, from now on. `persons: 2` asks for two different people. ' +
        '`share` draws a part of them by hash, so that nobody chooses which.',
      request: { shape: PolicyRequestShape, example: OVERSIGHT_EXAMPLE.request },
      answer: { shape: MadePolicyAnswerShape, example: OVERSIGHT_EXAMPLE.made },
      problems: ['missing-field', 'invalid-field', 'too-many-policies', 'home-only'],
    },
    async answer({ context }, caller) {
      requireWhole(caller, addressOf);
      const request = validate((await readJsonBody(context.req, BODY)).value);
      const policy = await policies.create(caller.account.id, request, caller.key.id);
      return { body: { success: true, policyId: policy.id, policy: policyAnswer(policy) } };
    },
  };
}

function deleteRoute({ policies, addressOf }: OversightRouteServices): KeyRoute {
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'Ends a policy',
      description: 'What waits by it alone waits no more; what was looked at stays on record.',
      params: ID,
      answer: { shape: DeletedPolicyAnswerShape, example: OVERSIGHT_EXAMPLE.deleted },
      problems: ['policy-not-found', 'home-only'],
    },
    async answer({ params: { id = '' } }, caller) {
      requireWhole(caller, addressOf);
      await policies.delete(caller.account.id, id, caller.key.id);
      return { body: { success: true, policyId: id } };
    },
  };
}

/** Throws `Problem` 403 and 409 for who may neither make nor end one. */
function requireWhole(caller: Caller, addressOf: AddressOf): void {
  requireHome(caller, addressOf);
  requireWholeAccount(caller, 'A policy is of the whole account');
}
