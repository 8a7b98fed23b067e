import { homeOf } from '../../../protocol/accounts/account-id.ts';
import {
  ACCOUNT_EXAMPLE,
  type AccountAnswer,
  AccountAnswerShape,
  ChangeAccountRequestShape,
} from '../../../protocol/api/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { Account } from '../../accounts/account.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { newestVersion, statementDueTable } from '../../accounts/statements/statement-tables.ts';
import type { Reads } from '../../store/store.ts';
import { readJsonBody } from '../body.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import type { KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';

export interface AccountRouteServices {
  readonly store: Reads;
  readonly accounts: Pick<Accounts, 'accountStore' | 'nodes'>;
  readonly addressOf: AddressOf;
}

const MAX_BYTES = 8 << 10;

const validate = validator(ChangeAccountRequestShape);

/** `/v1/account` (protocol §5): where an account lives, and at which nodes its keys work. */
export function accountRoutes(services: AccountRouteServices): readonly KeyRoute[] {
  return [readRoute(services), changeRoute(services)];
}

function readRoute({ store, accounts }: AccountRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/account',
    access: 'key',
    scope: null,
    documentation: {
      summary: 'The account of the key, and the nodes that its keys work at',
      description:
        'Any key may ask, at each of these nodes. `statement` is the record by which the home gave the keys to the others.',
      answer: { shape: AccountAnswerShape, example: ACCOUNT_EXAMPLE.answer },
      problems: [],
    },
    async answer(_call, { account }) {
      return { body: { success: true, account: await accountAnswer(store, accounts.accountStore, account) } };
    },
  };
}

function changeRoute({ store, accounts, addressOf }: AccountRouteServices): KeyRoute {
  return {
    method: 'PUT',
    path: '/v1/account',
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Changes the nodes that the keys of the account work at',
      description:
        'Takes the whole list, the home among it. Keys work at a node that is new once the version that names it is decided, ' +
        'and end at one that is left out as soon as it hears of it. Every node that is named learns the hashes of all keys ' +
        'and what they may do, is shown the keys that are used there, and may refuse them for good: name those that you ' +
        'trust with them. Refused to keys that are limited to sources or to a period.',
      request: { shape: ChangeAccountRequestShape, example: ACCOUNT_EXAMPLE.request },
      answer: { shape: AccountAnswerShape, example: ACCOUNT_EXAMPLE.answer },
      problems: ['missing-field', 'invalid-field', 'too-many-keys', 'home-only'],
    },
    async answer({ context }, caller) {
      requireHome(caller, addressOf);
      const {
        account: { id },
        key,
      } = caller;
      const { nodes } = validate((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
      const account = await accounts.nodes.set(id, nodes, { key: key.id });
      return { body: { success: true, account: await accountAnswer(store, accounts.accountStore, account) } };
    },
  };
}

/**
 * An account as its owner sees it here: at its home by its row, elsewhere by the newest statement that this node holds.
 */
async function accountAnswer(
  store: Reads,
  accountStore: Pick<AccountStore, 'account' | 'node'>,
  { id, tier }: Pick<Account, 'id' | 'tier'>,
): Promise<AccountAnswer['account']> {
  const home = homeOf(id) ?? accountStore.node;
  const newest = await newestVersion(store, id, home);
  const row = home === accountStore.node ? await accountStore.account(id) : undefined;
  const nodes = row === undefined ? (newest?.nodes ?? [home]) : (row.nodes ?? [home]);
  const due = await Array.fromAsync(statementDueTable.under(store, [id], { limit: 1 }));
  const [version, statement] = newest === undefined ? [null, null] : [newest.version, newest.id];
  return { id, home, tier, nodes: [...nodes], version, statement, pending: due.length > 0 };
}
