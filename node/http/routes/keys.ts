import {
  CreateKeyAnswerShape,
  CreateKeyDocumentShape,
  CreateKeyRequestShape,
  DEFAULT_OVERLAP_SECONDS,
  KEYS_EXAMPLE,
  ListKeysAnswerShape,
  RevokeKeyAnswerShape,
  RotateKeyAnswerShape,
  RotateKeyRequestShape,
} from '../../../protocol/api/keys.ts';
import { keyAnswer } from '../../accounts/api-key.ts';
import type { ApiKeys } from '../../accounts/api-keys.ts';
import { isWhole } from '../../accounts/caller.ts';
import type { KeyRefusals } from '../../accounts/elsewhere/key-refusals.ts';
import { isKeyId, type KeyId, KeyIdShape } from '../../accounts/key-id.ts';
import { reachesAllOf } from '../../accounts/key-terms.ts';
import { readJsonBody, readOptionalBody } from '../body.ts';
import { requireScope } from '../gate.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import { fieldProblem } from '../problem.ts';
import type { KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';

export interface KeyRouteServices {
  readonly keys: ApiKeys;
  /** Keys of accounts whose home is another node. */
  readonly refusals: Pick<KeyRefusals, 'list' | 'refuse'>;
  readonly addressOf: AddressOf;
  readonly now: () => number;
}

const MAX_BYTES = 128 << 10;
const PARAMS = {
  id: {
    description: 'Id of the key.',
    shape: KeyIdShape,
    example: KEYS_EXAMPLE.list.keys[0].id,
  },
};
const AT_HOME = 'At the home of the account alone.';
const ONCE = 'The text of the key is shown in this answer and never again: the node keeps its hash alone.';

const validateCreate = validator(CreateKeyRequestShape);
const validateRotate = validator(RotateKeyRequestShape);

/** `/v1/keys` (api-rules §5, §10 item 5): an account makes, replaces and ends its own keys, by a key that may. */
export function keyRoutes(services: KeyRouteServices): readonly KeyRoute[] {
  return [listRoute(services), createRoute(services), rotateRoute(services), revokeRoute(services)];
}

function listRoute({ keys, refusals, now }: KeyRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/keys',
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'The keys of the account',
      description:
        'All of them, oldest first, those that have ended too. No text of a key is among it. A key that is limited to ' +
        'sources or to a period is shown itself and those that reach no further, which it may replace or end. At another ' +
        'node than the home of the account, those that its newest statement lists: name, preset, last use and what ' +
        'replaced a key the home alone knows.',
      answer: { shape: ListKeysAnswerShape, example: KEYS_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      const { account, home, key: asker } = caller;
      const at = now();
      const all = await (home === undefined ? keys : refusals).list(account.id);
      const shown = isWhole(asker) ? all : all.filter((key) => key.id === asker.id || reachesAllOf(asker, key));
      return { body: { success: true, keys: shown.map((key) => keyAnswer(key, at)) } };
    },
  };
}

function createRoute({ keys, addressOf, now }: KeyRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/keys',
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Makes a key',
      description:
        'With a preset or with scopes; never with more than the key that asks has itself. One that is made by the key of ' +
        `who signs in by mail is of that person. ${AT_HOME} ${ONCE}`,
      request: { shape: CreateKeyDocumentShape, example: KEYS_EXAMPLE.create.request },
      answer: { shape: CreateKeyAnswerShape, example: KEYS_EXAMPLE.create.answer },
      problems: ['missing-field', 'invalid-field', 'too-many-keys', 'home-only'],
    },
    async answer({ context }, caller) {
      requireHome(caller, addressOf);
      const { account, key: maker } = caller;
      const request = validateCreate((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
      const { apiKey, key } = await keys.create(account.id, request, { key: maker.id });
      return { body: { success: true, apiKey, key: keyAnswer(key, now()) } };
    },
  };
}

function rotateRoute({ keys, addressOf, now }: KeyRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/keys/:id/rotate',
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Makes a key of the same terms in the place of one',
      description:
        'The old key goes on for `overlapSeconds`, a day where nothing is said, at most thirty, or ends at once where the ' +
        'account has no room for both; 0 ends it at once. A key of who signs in by mail replaces no key of somebody else: ' +
        'those of the same person, and those of nobody who does, which are theirs then; the key of a sign-in is replaced by ' +
        `its own person alone. ${AT_HOME} ${ONCE}`,
      params: PARAMS,
      request: { optional: true, shape: RotateKeyRequestShape, example: KEYS_EXAMPLE.rotate.request },
      answer: { shape: RotateKeyAnswerShape, example: KEYS_EXAMPLE.rotate.answer },
      problems: ['invalid-field', 'key-not-found', 'key-ended', 'too-many-keys', 'home-only'],
    },
    async answer({ context, params }, caller) {
      requireHome(caller, addressOf);
      const { account, key: maker } = caller;
      const id = keyParameter(params);
      const { overlapSeconds = DEFAULT_OVERLAP_SECONDS } = validateRotate(
        await readOptionalBody(context.req, { maxBytes: MAX_BYTES }),
      );
      const { apiKey, key, replaced } = await keys.rotate(account.id, id, overlapSeconds, { key: maker.id });
      const at = now();
      const body = { success: true, apiKey, key: keyAnswer(key, at), replaced: keyAnswer(replaced, at) };
      return { body };
    },
  };
}

function revokeRoute({ keys, refusals, now }: KeyRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/keys/:id/revoke',
    access: 'key',
    scope: null,
    documentation: {
      summary: 'Ends a key now and for good',
      description:
        'The very next request with it is refused. Revoking twice is revoking once. By a key with `keys:admin`. The last ' +
        'key that administers the account is not revoked but rotated. At another node that the account names it is a ' +
        'refusal: in force there at once, at the others as it reaches them, and for good, also with the home dead; there any ' +
        'key may have itself refused.',
      params: PARAMS,
      answer: { shape: RevokeKeyAnswerShape, example: KEYS_EXAMPLE.revoke.answer },
      problems: ['invalid-field', 'key-not-found', 'last-admin-key'],
    },
    async answer({ params }, caller) {
      const { account, key: maker, home } = caller;
      const id = keyParameter(params);
      if (home === undefined || id !== maker.id) requireScope('keys:admin', caller);
      const isHere = home === undefined;
      const key = await (isHere
        ? keys.revoke(account.id, id, { key: maker.id })
        : refusals.refuse(account.id, id, maker.id));
      return { body: { success: true, key: keyAnswer(key, now()) } };
    },
  };
}

/** Throws `Problem` 400. */
function keyParameter({ id = '' }: Readonly<Record<string, string>>): KeyId {
  if (isKeyId(id)) return id;
  throw fieldProblem('id', 'pattern', 'is not the id of a key');
}
