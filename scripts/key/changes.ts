import type { Static } from 'typebox';
import { type Account, newAccountId } from '../../node/accounts/account.ts';
import { newKeyId } from '../../node/accounts/key-id.ts';
import { newKeyText } from '../../node/accounts/key-text.ts';
import type { KeyRequest } from '../../node/accounts/key-terms.ts';
import { AccountAnswerShape, AccountsAnswerShape } from '../../node/operator/account-forms.ts';
import { CreateKeyAnswerShape, RevokeKeyAnswerShape, RotateKeyAnswerShape } from '../../protocol/api/keys.ts';
import { isNodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { Command } from './arguments.ts';
import { askAll, type Outcome } from './ask.ts';
import type { Target } from './targets.ts';

export type ChangeCommand = Exclude<Command, { readonly name: 'list' }>;

/** What every node made of a change, in a few words each, and the text of a key that was made. */
export interface ChangeReport {
  readonly outcomes: readonly Outcome<Changed>[];
  readonly apiKey: string | null;
}

export interface Changed {
  /** Account or key. */
  readonly subject: string;
  readonly words: string;
}

/** Sorts after every account. */
const AFTER_ALL = '~';

/** The nodes that cannot be asked at the moment. Looked at before a change, so that it is not made on some alone. */
export async function unreachable(targets: readonly Target[]): Promise<readonly Outcome<unknown>[]> {
  const question = { method: 'GET', path: `/accounts?after=${AFTER_ALL}`, answer: AccountsAnswerShape } as const;
  return (await askAll(targets, question)).filter(({ ok }) => !ok);
}

/** Makes a change on every node. `readKey` reads the text of a key that the operator brings. */
export async function change(
  command: ChangeCommand,
  targets: readonly Target[],
  readKey: () => Promise<string>,
): Promise<ChangeReport> {
  switch (command.name) {
    case 'create-account':
      return createAccount(command, targets);
    case 'create': {
      const given = command.knownAs === undefined ? newKey(targets) : { apiKey: await readKey(), id: command.knownAs };
      const path = `${pathOf(command.account)}/keys`;
      const body = { ...bodyOf(command.request), ...given };
      const outcomes = await askAll(targets, { method: 'POST', path, body, answer: CreateKeyAnswerShape });
      return reportOfKey(outcomes, (answer) => until(answer.key));
    }
    case 'rotate': {
      const path = `${pathOf(command.account)}/keys/${command.key}/rotate`;
      const { overlapSeconds } = command;
      const body = { ...(overlapSeconds === undefined ? {} : { overlapSeconds }), ...newKey(targets) };
      const outcomes = await askAll(targets, { method: 'POST', path, body, answer: RotateKeyAnswerShape });
      return reportOfKey(
        outcomes,
        ({ replaced }) => `in the place of ${replaced.id}, which ends ${replaced.expiresAt}`,
      );
    }
    case 'revoke': {
      const path = `${pathOf(command.account)}/keys/${command.key}/revoke`;
      const outcomes = await askAll(targets, { method: 'POST', path, body: {}, answer: RevokeKeyAnswerShape });
      const words = ({ key }: Static<typeof RevokeKeyAnswerShape>) => ({
        subject: key.id,
        words: `revoked ${key.revokedAt}`,
      });
      return { outcomes: outcomes.map((outcome) => inWords(outcome, words)), apiKey: null };
    }
    case 'set-tier': {
      const path = `${pathOf(command.account)}/tier`;
      return accountReport(targets, path, { tier: command.tier });
    }
    case 'set-compression': {
      const path = `${pathOf(command.account)}/compression`;
      return accountReport(targets, path, { compressPayloads: command.compressPayloads });
    }
    case 'set-nodes':
      return accountReport(targets, `${pathOf(command.account)}/nodes`, { nodes: [...command.nodes] });
    case 'restate':
      return accountReport(targets, `${pathOf(command.account)}/restate`, {});
    case 'remove-second-factors': {
      const path = `${pathOf(command.account)}/second-factors/${command.holder}/remove`;
      return accountReport(targets, path, {});
    }
  }
}

/** One id for all nodes, so that they mean the same account. The first of them is its home. */
async function createAccount(
  { id, tier, terms }: Extract<Command, { readonly name: 'create-account' }>,
  targets: readonly Target[],
): Promise<ChangeReport> {
  const [first] = targets;
  const { nodes, ...rest } = terms;
  const fresh = first !== undefined && isNodeId(first.node) ? { id: newAccountId(first.node) } : {};
  return accountReport(targets, '/accounts/create', {
    ...(id === undefined ? fresh : { id }),
    tier,
    ...rest,
    ...(nodes === undefined ? {} : { nodes: [...nodes] }),
  });
}

async function accountReport(targets: readonly Target[], path: string, body: JsonObject): Promise<ChangeReport> {
  const outcomes = await askAll(targets, { method: 'POST', path, body, answer: AccountAnswerShape });
  const words = ({ account }: Static<typeof AccountAnswerShape>) => ({
    subject: account.id,
    words: accountWords(account),
  });
  return { outcomes: outcomes.map((outcome) => inWords(outcome, words)), apiKey: null };
}

function accountWords({ tier, compressPayloads = false, nodes }: Account): string {
  const words = compressPayloads ? `${tier}, payloads compressed` : tier;
  return nodes === undefined ? words : `${words}, at ${nodes.join(' ')}`;
}

function reportOfKey<Answer extends Static<typeof CreateKeyAnswerShape> | Static<typeof RotateKeyAnswerShape>>(
  outcomes: readonly Outcome<Answer>[],
  words: (answer: Answer) => string,
): ChangeReport {
  const made = outcomes.find((outcome) => outcome.ok);
  return {
    outcomes: outcomes.map((one) => inWords(one, (answer) => ({ subject: answer.key.id, words: words(answer) }))),
    apiKey: made?.ok === true ? made.answer.apiKey : null,
  };
}

function inWords<Answer>(outcome: Outcome<Answer>, words: (answer: Answer) => Changed): Outcome<Changed> {
  return outcome.ok ? { ...outcome, answer: words(outcome.answer) } : outcome;
}

/** Several nodes know one key, so it is made here; one node makes its own. */
function newKey(targets: readonly Target[]): { readonly apiKey?: string; readonly id?: string } {
  const [first] = targets;
  if (targets.length < 2 || first === undefined || !isNodeId(first.node)) return {};
  return { apiKey: newKeyText(first.node), id: newKeyId(first.node, Date.now()) };
}

function until({ expiresAt }: Static<typeof CreateKeyAnswerShape>['key']): string {
  return expiresAt === null ? 'without end' : `until ${expiresAt}`;
}

function pathOf(account: string): string {
  return `/accounts/${encodeURIComponent(account)}`;
}

function bodyOf({ scopes, sources, addresses, ...rest }: KeyRequest): JsonObject {
  return {
    ...rest,
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(sources === undefined ? {} : { sources: sources && [...sources] }),
    ...(addresses === undefined ? {} : { addresses: addresses && [...addresses] }),
  };
}
