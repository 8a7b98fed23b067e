import type { Context } from 'koa';
import { DEFAULT_OVERLAP_SECONDS } from '../../protocol/api/keys.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { type Account, AccountError, type Accounts } from '../accounts/accounts.ts';
import { keyAnswer } from '../accounts/api-key.ts';
import type { GivenKey } from '../accounts/api-keys.ts';
import type { KeyId } from '../accounts/key-id.ts';
import type { SecondFactors } from '../accounts/second-factors/second-factors.ts';
import { isPublicMailAddress } from '../accounts/mail/mail-address.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { Call, OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import {
  CreateAccountShape,
  GiveKeyShape,
  GrantShape,
  RotateShape,
  SetCompressionShape,
  SetNodesShape,
  SetTierShape,
} from './account-forms.ts';

const MAX_BYTES = 128 << 10;
/** Accounts of one page. */
const PAGE = 200;

const validateGrant = validator(GrantShape);
const validateCreate = validator(CreateAccountShape);
const validateTier = validator(SetTierShape);
const validateCompression = validator(SetCompressionShape);
const validateNodes = validator(SetNodesShape);
const validateKey = validator(GiveKeyShape);
const validateRotation = validator(RotateShape);

/** Accounts, keys and lost second factors as an operator changes them: without the limits that a key has. */
export function operatorAccountRoutes(
  accounts: Accounts,
  secondFactors: Pick<SecondFactors, 'removeAll'>,
): readonly OperatorRoute[] {
  return [...ofAccounts(accounts), ...ofKeys(accounts), removeSecondFactors(accounts, secondFactors)];
}

function ofAccounts(accounts: Accounts): readonly OperatorRoute[] {
  return [
    post('/accounts', async ({ context }) => {
      const { id, tier, apiKey } = validateGrant(await bodyOf(context));
      await accounts.grant({ id, tier }, apiKey);
      return { account: id, tier };
    }),
    get('/accounts', async ({ query }) => {
      const page = await accounts.accountStore.accounts(PAGE, query.get('after') ?? undefined);
      return { accounts: page.map(plain), next: page.length < PAGE ? null : (page.at(-1)?.id ?? null) };
    }),
    post('/accounts/create', async ({ context }) => {
      const request = validateCreate(await bodyOf(context));
      if (request.email !== undefined && !isPublicMailAddress(request.email)) {
        throw new AccountError('account-malformed', 'is not a mail address', 'email');
      }
      return { account: plain(await accounts.create(request)) };
    }),
    post('/accounts/:account/tier', async ({ context, params }) => {
      const { tier } = validateTier(await bodyOf(context));
      return { account: plain(await accounts.setTier(parameter(params, 'account'), tier)) };
    }),
    post('/accounts/:account/compression', async ({ context, params }) => {
      const { compressPayloads } = validateCompression(await bodyOf(context));
      return { account: plain(await accounts.setCompression(parameter(params, 'account'), compressPayloads)) };
    }),
    post('/accounts/:account/nodes', async ({ context, params }) => {
      const { nodes } = validateNodes(await bodyOf(context));
      return { account: plain(await accounts.nodes.set(parameter(params, 'account'), nodes, 'operator')) };
    }),
    post('/accounts/:account/restate', async ({ params }) => {
      return { account: plain(await accounts.nodes.restate(parameter(params, 'account'))) };
    }),
  ];
}

function ofKeys({ keys, accountStore }: Accounts): readonly OperatorRoute[] {
  return [
    get('/accounts/:account/keys', async ({ params }) => {
      const account = await accountStore.requireAccount(parameter(params, 'account'));
      const all = await keys.list(account.id);
      return { account: plain(account), keys: all.map((key) => keyAnswer(key, accountStore.now())) };
    }),
    post('/accounts/:account/keys', async ({ context, params }) => {
      const { apiKey: text, id, ...request } = validateKey(await bodyOf(context));
      const { apiKey, key } = await keys.create(parameter(params, 'account'), request, 'operator', givenOf(text, id));
      return { apiKey, key: keyAnswer(key, accountStore.now()) };
    }),
    post('/accounts/:account/keys/:key/rotate', async ({ context, params }) => {
      const { apiKey: text, id, overlapSeconds = DEFAULT_OVERLAP_SECONDS } = validateRotation(await bodyOf(context));
      const [account, old] = [parameter(params, 'account'), parameter(params, 'key')];
      const { apiKey, key, replaced } = await keys.rotate(account, old, overlapSeconds, 'operator', givenOf(text, id));
      return { apiKey, key: keyAnswer(key, accountStore.now()), replaced: keyAnswer(replaced, accountStore.now()) };
    }),
    post('/accounts/:account/keys/:key/revoke', async ({ params }) => {
      const key = await keys.revoke(parameter(params, 'account'), parameter(params, 'key'), 'operator');
      return { key: keyAnswer(key, accountStore.now()) };
    }),
  ];
}

function removeSecondFactors(
  { accountStore }: Accounts,
  secondFactors: Pick<SecondFactors, 'removeAll'>,
): OperatorRoute {
  return post('/accounts/:account/second-factors/:holder/remove', async ({ params }) => {
    const account = await accountStore.requireAccount(parameter(params, 'account'));
    await secondFactors.removeAll(account.id, parameter(params, 'holder'), 'operator');
    return { account: plain(account) };
  });
}

function get(path: string, answer: (call: Call) => Promise<JsonObject>): OperatorRoute {
  return { method: 'GET', path, access: 'free', answer: async (call) => answered(await answer(call)) };
}

function post(path: string, answer: (call: Call) => Promise<JsonObject>): OperatorRoute {
  return { method: 'POST', path, access: 'free', answer: async (call) => answered(await answer(call)) };
}

function answered(members: JsonObject) {
  return { body: { success: true, ...members } };
}

function plain(account: Account): JsonObject {
  return { ...account };
}

function givenOf(apiKey: string | undefined, id: KeyId | undefined): GivenKey {
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(id === undefined ? {} : { id }) };
}

async function bodyOf(context: Context): Promise<JsonObject> {
  return (await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value;
}

/** Ids stand between the slashes of row keys. Throws `Problem` 400. */
function parameter(params: Readonly<Record<string, string>>, name: string): string {
  const { [name]: value = '' } = params;
  if (value !== '' && !value.includes('/')) return value;
  throw new Problem('invalid-field', `${name} is no id`, { errors: [fieldError([name], 'pattern', 'is no id')] });
}
